import { startWorld, tempDir } from '../src/index.ts'

// A test run that ends in the middle: by an error, or by the signal that ends it while it waits.
const [version = '', how] = process.argv.slice(2)
const world = await startWorld({ version })
await world.appServer.freeze()
process.stdout.write(`${JSON.stringify([world.appServer.pid, world.home.path, tempDir('left').path])}\n`)
if (how === 'throw') throw new Error('abandoned')
setInterval(() => undefined, 1000)

import { serveStdio } from '../src/index.ts'
import { gate, testHost } from './test-tools.ts'

const door = gate()
door.open()
await serveStdio(await testHost(door), {
  name: 'tiny',
  title: 'Tiny',
  version: '0.0.0',
  instructions: 'None.',
})

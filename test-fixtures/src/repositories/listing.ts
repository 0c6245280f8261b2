import { createHash } from 'node:crypto'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'

const join = (directory: Buffer, name: Buffer): Buffer => Buffer.concat([directory, Buffer.from('/'), name])

const describe = async (path: Buffer): Promise<string> => {
  const stats = await lstat(path)
  const mode = stats.mode.toString(8)
  if (stats.isSymbolicLink()) return `${mode} -> ${await readlink(path, 'latin1')}`
  if (!stats.isFile()) return mode
  return `${mode} ${createHash('sha256')
    .update(await readFile(path))
    .digest('hex')}`
}

const walk = async (directory: Buffer, below: Buffer): Promise<string[]> => {
  const entries = await readdir(directory, { withFileTypes: true, encoding: 'buffer' })
  const lines = await Promise.all(
    entries.map(async (entry) => {
      const path = join(directory, entry.name)
      const relative = below.length === 0 ? entry.name : join(below, entry.name)
      const line = `${relative.toString('latin1')} ${await describe(path)}`
      return entry.isDirectory() ? [line, ...(await walk(path, relative))] : [line]
    }),
  )
  return lines.flat()
}

/** All that stands in a directory, one line each with mode and contents: two listings tell whether anything changed. */
export const listing = async (directory: string): Promise<readonly string[]> =>
  (await walk(Buffer.from(directory), Buffer.alloc(0))).sort()

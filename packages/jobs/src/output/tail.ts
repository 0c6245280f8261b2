import { open } from 'node:fs/promises'
import { plainLine } from './json-lines.ts'

/** A piece of a file as text: whole characters only, `next` is where it ends. */
export interface Piece {
  readonly text: string
  readonly next: number
  readonly size: number
}

/** How many bytes at the end of a piece begin a character that is not whole. */
const unfinished = (bytes: Buffer): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needs > back ? back : 0
  }
  return 0
}

/** At most `maxBytes` of a file from `offset` on; nothing where there is no file. */
export const readPiece = async (path: string, offset: number, maxBytes: number): Promise<Piece> => {
  const file = await open(path, 'r').catch(() => undefined)
  if (file === undefined) return { text: '', next: offset, size: 0 }
  try {
    const { size } = await file.stat()
    const buffer = Buffer.alloc(Math.max(0, Math.min(maxBytes, size - offset)))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset)
    const read = buffer.subarray(0, bytesRead)
    const end = offset + bytesRead
    const whole = end < size ? read.subarray(0, read.length - unfinished(read)) : read
    return { text: whole.toString('utf8'), next: offset + whole.length, size }
  } finally {
    await file.close()
  }
}

/** The end of a text file, without colours. */
export const readTail = async (path: string, maxBytes: number): Promise<string> => {
  const { size } = await readPiece(path, 0, 0)
  const from = Math.max(0, size - maxBytes)
  const { text } = await readPiece(path, from, maxBytes)
  // The cut may have split a character.
  return text
    .replace(/^\ufffd+/, '')
    .split('\n')
    .map(plainLine)
    .join('\n')
    .trim()
}

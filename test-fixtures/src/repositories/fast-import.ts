/** One entry of a commit's tree. */
export interface TreeEntry {
  /** Slashes between names; bytes for a name that is no text. */
  readonly path: string | Uint8Array
  /** A symbolic link's content is its target, a submodule's the commit id. */
  readonly content: string | Uint8Array
  /** Default: a plain file. */
  readonly kind?: 'file' | 'executable' | 'link' | 'submodule'
}

const modes = { file: '100644', executable: '100755', link: '120000', submodule: '160000' } as const

/** A path in double quotes, every unusual byte in octal: any name passes. */
const quoted = (path: string | Uint8Array): string => {
  const bytes = [...Buffer.from(path)]
  const escaped = bytes.map((byte) => {
    const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
    return plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
  })
  return `"${escaped.join('')}"`
}

const data = (content: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(content)
  return Buffer.concat([Buffer.from(`data ${String(bytes.length)}\n`), bytes, Buffer.from('\n')])
}

const entryLines = ({ path, content, kind = 'file' }: TreeEntry): Buffer[] =>
  kind === 'submodule'
    ? [Buffer.from(`M ${modes[kind]} ${Buffer.from(content).toString()} ${quoted(path)}\n`)]
    : [Buffer.from(`M ${modes[kind]} inline ${quoted(path)}\n`), data(content)]

/** A stream for `git fast-import`: one commit with these entries on top of the branch, always the same id. */
export const commitStream = (
  branch: string,
  parent: string | undefined,
  message: string,
  entries: readonly TreeEntry[],
): Buffer =>
  Buffer.concat([
    Buffer.from(`commit ${branch}\ncommitter Test <test@example.invalid> 1700000000 +0000\n`),
    data(message),
    Buffer.from(parent === undefined ? '' : `from ${parent}\n`),
    ...entries.flatMap(entryLines),
    Buffer.from('done\n'),
  ])

import { statfsSync } from 'node:fs'

export interface FileSystemKind {
  /** `nfs`, `cifs`, …; `other` for every file system that is not in the list. */
  readonly name: string
  /** True where processes on several hosts, or on both sides of a mount, may not share memory: no WAL there. */
  readonly network: boolean
}

/** Magic numbers of statfs(2). FUSE is among them because sshfs and its like cannot be told from local ones. */
const networkFileSystems = new Map([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'smb2'],
  [0x01021997, '9p'],
  [0x65735546, 'fuse'],
  [0x00c36400, 'ceph'],
  [0x5346414f, 'afs'],
  [0x0bd00bd3, 'lustre'],
  [0x47504653, 'gpfs'],
  [0x19830326, 'beegfs'],
  [0x786f4256, 'vboxsf'],
  [0xbacbacbc, 'vmhgfs'],
])

/** The file system that holds an existing path. macOS gives no magic numbers: always `other` there. */
export const fileSystemKind = (path: string): FileSystemKind => kindOfMagic(statfsSync(path).type)

/** The kind of a statfs(2) type, which 32-bit systems give as a negative number. */
export const kindOfMagic = (type: number): FileSystemKind => {
  const name = process.platform === 'linux' ? networkFileSystems.get(type >>> 0) : undefined
  return name === undefined ? { name: 'other', network: false } : { name, network: true }
}

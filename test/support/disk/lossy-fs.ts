/**
 * Replaces a folder by a lossy disk, for this process alone: calls on files right below it go to the disk, all others to the
 * machine. It needs no privilege, so it runs wherever the tests run.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname } from 'node:path'
import { type LossyDisk, lossyDisk } from './lossy-disk.ts'

export type Fsync = 'done' | 'skipped' | 'fails'
type Handle = { ino: number | undefined }
type Function = (...args: never[]) => unknown

/** Larger than any descriptor of the kernel. */
const FIRST_DESCRIPTOR = 1_000_000_000
const BLOCK = 512

const failed = (code: string, what: string): Error => Object.assign(new Error(`${code}: lossy disk, ${what}`), { code })

/**
 * @param dir a path that does not exist on the machine
 * @param fsync decides, by the name of a file or '' for the folder, whether its fsync works, is skipped silently, or fails
 *   and drops its bytes
 */
export function mountHere(dir: string, fsync: (name: string) => Fsync = () => 'done'): LossyDisk {
  const disk = lossyDisk()
  const handles = new Map<number, Handle>()
  let next = FIRST_DESCRIPTOR

  const power = (what: string) => {
    if (!disk.powered()) throw failed('EIO', what)
  }
  const inodeOf = (path: string) => {
    const ino = disk.names().get(basename(path))
    if (ino === undefined) throw failed('ENOENT', path)
    return ino
  }
  const nameOf = (ino: number) => [...disk.names()].find(([, other]) => other === ino)?.[0] ?? ''
  const bytesOf = (ino: number) => disk.inode(ino)!.now
  const openFile = (path: string, flags: string | number): Handle => {
    if (path === dir) return { ino: undefined }
    const creates = typeof flags === 'number' ? (flags & fs.constants.O_CREAT) !== 0 : flags.startsWith('w')
    const isThere = disk.names().has(basename(path))
    if (isThere && flags === 'wx') throw failed('EEXIST', path)
    if (!isThere && creates) {
      power('create')
      return { ino: disk.create(basename(path)) }
    }
    const ino = inodeOf(path)
    if (flags === 'w') {
      power('truncate')
      disk.resize(ino, 0)
    }
    return { ino }
  }
  const write = (ino: number, bytes: Uint8Array, at: number): number => {
    power('write')
    const written = disk.write(ino, at, Buffer.from(bytes))
    if (written === 0 && bytes.length > 0) throw failed('ENOSPC', 'no space left')
    return written
  }
  const sync = ({ ino }: Handle) => {
    power('fsync')
    const how = fsync(ino === undefined ? '' : nameOf(ino))
    if (how === 'skipped') return
    if (how === 'fails') {
      if (ino !== undefined) disk.failSync(ino)
      throw failed('EIO', 'fsync')
    }
    if (ino === undefined) disk.syncFolder()
    else disk.sync(ino)
  }
  const read = (ino: number, into: Uint8Array, offset: number, length: number, at: number): number => {
    const bytes = bytesOf(ino).subarray(at, at + length)
    into.set(bytes, offset)
    return bytes.length
  }
  const fileHandle = (handle: Handle) => ({
    write: async (bytes: Uint8Array, offset: number, length: number, at: number) => ({
      bytesWritten: write(handle.ino!, bytes.subarray(offset, offset + length), at),
      buffer: bytes,
    }),
    writeFile: async (content: string | Uint8Array) => {
      const bytes = Buffer.from(content as string)
      for (let done = 0; done < bytes.length; ) done += write(handle.ino!, bytes.subarray(done), done)
    },
    truncate: async (length = 0) => {
      power('truncate')
      disk.resize(handle.ino!, length)
    },
    datasync: async () => sync(handle),
    sync: async () => sync(handle),
    stat: async () => ({ ino: BigInt(handle.ino!), size: BigInt(bytesOf(handle.ino!).length), mtimeNs: 0n, ctimeNs: 0n }),
    close: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  })

  const bare: Record<string, Function> = {
    existsSync: (path: string) => path === dir || disk.names().has(basename(path)),
    statSync: (path: string) => ({ isDirectory: () => path === dir }),
    statfsSync: () => ({ bsize: BLOCK, bavail: Math.floor(disk.room() / BLOCK) }),
    openSync(path: string, flags: string) {
      handles.set(next, openFile(path, flags))
      return next++
    },
    unlinkSync(path: string) {
      power('unlink')
      inodeOf(path)
      disk.unlink(basename(path))
    },
  }
  const byDescriptor: Record<string, Function> = {
    readSync: (fd: number, into: Uint8Array, offset: number, length: number, at: number) =>
      read(handles.get(fd)!.ino!, into, offset, length, at),
    fsyncSync: (fd: number) => sync(handles.get(fd)!),
    closeSync: (fd: number) => void handles.delete(fd),
  }
  const promised: Record<string, Function> = {
    open: async (path: string, flags: string | number) => fileHandle(openFile(path, flags)),
    readFile: async (path: string, encoding?: BufferEncoding) => {
      const bytes = Buffer.from(bytesOf(inodeOf(path)))
      return encoding ? bytes.toString(encoding) : bytes
    },
    readdir: async () => [...disk.names().keys()],
    rename: async (from: string, to: string) => {
      power('rename')
      inodeOf(from)
      disk.rename(basename(from), basename(to))
    },
    rm: async (path: string) => {
      if (!disk.names().has(basename(path))) return
      power('unlink')
      disk.unlink(basename(path))
    },
  }
  const isBelow = (path: unknown) => typeof path === 'string' && (path === dir || dirname(path) === dir)
  const isOurs = (fd: unknown) => typeof fd === 'number' && fd >= FIRST_DESCRIPTOR && handles.has(fd)
  replaceIn(fs, bare, isBelow)
  replaceIn(fs, byDescriptor, isOurs)
  replaceIn(fs.promises, promised, isBelow)
  syncBuiltinESMExports()
  return disk
}

/** Sends calls whose first argument belongs to the disk to it. */
function replaceIn(module: object, own: Record<string, Function>, isOurs: (first: unknown) => boolean): void {
  const functions = module as Record<string, Function>
  for (const [name, mine] of Object.entries(own)) {
    const machines = functions[name]!
    functions[name] = (...args) => (isOurs(args[0]) ? mine : machines)(...args)
  }
}

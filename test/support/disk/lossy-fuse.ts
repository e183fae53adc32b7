/**
 * Mounts a lossy disk at argv[2] with the FUSE protocol of the kernel (linux/fuse.h, 7.31). Messages on its channel cut and
 * restore the power. Ends when the folder is unmounted.
 */
import { spawn, spawnSync } from 'node:child_process'
import { openSync, read, writeSync } from 'node:fs'
import { lossyDisk, ROOT } from './lossy-disk.ts'

const ERRNO = { EIO: -5, ENOENT: -2, ENOSYS: -38 }
const DIRECT_IO = 1
const WRITE_MAX = 128 * 1024
/** The answer of a handler: a body, nothing, an error, or undefined when the kernel expects none. */
type Answer = Buffer | number | undefined

const disk = lossyDisk()
const device = openSync('/dev/fuse', 'r+')
const text = (body: Buffer, from = 0): string[] => body.toString('utf8', from).split('\0')

function attributes(ino: number): Buffer {
  const size = ino === ROOT ? 0 : (disk.inode(ino)?.now.length ?? 0)
  const out = Buffer.alloc(88)
  out.writeBigUInt64LE(BigInt(ino), 0)
  out.writeBigUInt64LE(BigInt(size), 8)
  out.writeUInt32LE(ino === ROOT ? 0o040_755 : 0o100_644, 60)
  out.writeUInt32LE(1, 64)
  out.writeUInt32LE(512, 80)
  return out
}
const entry = (ino: number): Buffer => {
  const head = Buffer.alloc(40)
  head.writeBigUInt64LE(BigInt(ino), 0)
  return Buffer.concat([head, attributes(ino)])
}
const handle = (): Buffer => {
  const out = Buffer.alloc(16)
  out.writeUInt32LE(DIRECT_IO, 8)
  return out
}
const attr = (ino: number): Buffer => Buffer.concat([Buffer.alloc(16), attributes(ino)])
const changed = (change: () => Answer): Answer => (disk.powered() ? change() : ERRNO.EIO)
const done = (change: () => void): Answer => changed(() => (change(), Buffer.alloc(0)))

function entries(body: Buffer): Buffer {
  const after = Number(body.readBigUInt64LE(8))
  const room = body.readUInt32LE(16)
  const parts: Buffer[] = []
  let length = 0
  for (const [i, [name, ino]] of [...disk.names()].entries()) {
    const bytes = Buffer.from(name)
    const one = Buffer.alloc(24 + Math.ceil(bytes.length / 8) * 8)
    if (i < after || length + one.length > room) continue
    one.writeBigUInt64LE(BigInt(ino), 0)
    one.writeBigUInt64LE(BigInt(i + 1), 8)
    one.writeUInt32LE(bytes.length, 16)
    one.writeUInt32LE(8, 20)
    bytes.copy(one, 24)
    parts.push(one)
    length += one.length
  }
  return Buffer.concat(parts)
}

/** The first answer to the kernel: version, and most bytes of a write. */
function initial(readAhead: number): Buffer {
  const out = Buffer.alloc(64)
  for (const [at, value] of [
    [0, 7],
    [4, 31],
    [8, readAhead],
    [12, 1 << 5],
    [20, WRITE_MAX],
    [24, 1],
  ] as const)
    out.writeUInt32LE(value, at)
  out.writeUInt16LE(12, 16)
  out.writeUInt16LE(9, 18)
  return out
}

/** By the kernel's number for the operation. */
const HANDLERS: Record<number, (ino: number, body: Buffer) => Answer> = {
  1: (_, body) => (disk.names().has(text(body)[0]!) ? entry(disk.names().get(text(body)[0]!)!) : ERRNO.ENOENT),
  2: () => undefined,
  3: ino => attr(ino),
  4: (ino, body) => {
    const isResize = (body.readUInt32LE(0) & 8) !== 0
    if (!isResize) return attr(ino)
    return changed(() => (disk.resize(ino, Number(body.readBigUInt64LE(16))), attr(ino)))
  },
  10: (_, body) => done(() => disk.unlink(text(body)[0]!)),
  12: (_, body) => done(() => disk.rename(text(body, 8)[0]!, text(body, 8)[1]!)),
  14: () => handle(),
  15: (ino, body) => {
    const at = Number(body.readBigUInt64LE(8))
    return disk.inode(ino)!.now.subarray(at, at + body.readUInt32LE(16))
  },
  16: (ino, body) => {
    const size = body.readUInt32LE(16)
    const answer = Buffer.alloc(8)
    answer.writeUInt32LE(size, 0)
    return changed(() => (disk.write(ino, Number(body.readBigUInt64LE(8)), Buffer.from(body.subarray(40, 40 + size))), answer))
  },
  17: () => {
    const out = Buffer.alloc(80)
    for (let i = 0; i < 5; i++) out.writeBigUInt64LE(1_000_000n, i * 8)
    out.writeUInt32LE(4096, 40)
    out.writeUInt32LE(255, 44)
    out.writeUInt32LE(4096, 48)
    return out
  },
  18: () => Buffer.alloc(0),
  20: ino => done(() => disk.sync(ino)),
  25: () => Buffer.alloc(0),
  26: (_, body) => initial(body.readUInt32LE(8)),
  27: () => handle(),
  28: (_, body) => entries(body),
  29: () => Buffer.alloc(0),
  30: () => done(() => disk.syncFolder()),
  35: (_, body) => changed(() => Buffer.concat([entry(disk.create(text(body, 16)[0]!)), handle()])),
  36: () => undefined,
  42: () => undefined,
  45: (_, body) => done(() => disk.rename(text(body, 16)[0]!, text(body, 16)[1]!)),
}
function reply(unique: bigint, answer: Buffer | number) {
  const head = Buffer.alloc(16)
  const body = typeof answer === 'number' ? Buffer.alloc(0) : answer
  head.writeUInt32LE(16 + body.length, 0)
  head.writeInt32LE(typeof answer === 'number' ? answer : 0, 4)
  head.writeBigUInt64LE(unique, 8)
  try {
    writeSync(device, Buffer.concat([head, body]))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

const buffer = Buffer.alloc(WRITE_MAX + 64 * 1024)
function next() {
  read(device, buffer, 0, buffer.length, null, (error, length) => {
    const isEarly = error?.code === 'EPERM' && mount.exitCode === null
    if (error && !isEarly && !['EINTR', 'EAGAIN', 'ENOENT'].includes(error.code!)) process.exit(0)
    if (!error) {
      const request = buffer.subarray(0, length)
      const answer = (HANDLERS[request.readUInt32LE(4)] ?? (() => ERRNO.ENOSYS))(
        Number(request.readBigUInt64LE(16)),
        request.subarray(40),
      )
      if (answer !== undefined) reply(request.readBigUInt64LE(8), answer)
    }
    if (isEarly) setTimeout(next, 2)
    else next()
  })
}

process.on('message', (told: { arm: number } | { crash: number }) => {
  if ('arm' in told) disk.arm(told.arm)
  else disk.crash(told.crash)
  process.send!('done')
})
process.on('disconnect', () => process.exit(0))
process.on('exit', () => void spawnSync('umount', ['-l', process.argv[2]!], { stdio: 'ignore' }))
const options = 'fd=3,rootmode=40000,user_id=0,group_id=0'
const mount = spawn('mount', ['-i', '-t', 'fuse', '-o', options, 'lossy', process.argv[2]!], {
  stdio: ['ignore', 'ignore', 'ignore', device],
})
mount.on('close', status => process.send!(status === 0 ? 'mounted' : 'refused'))
mount.on('error', () => process.send!('refused'))
next()

/**
 * A folder on a simulated disk that retains only fsynced bytes. Of the others a power cut leaves any 512-byte sectors of each
 * file's writes, and the first few changes of the folder, in their order. The size of the disk may be limited.
 */
export const ROOT = 1
const SECTOR = 512

type Inode = { now: Buffer; kept: Buffer; pending: ({ at: number; bytes: Buffer } | { size: number })[] }
export type LossyDisk = ReturnType<typeof lossyDisk>

const grown = (data: Buffer, size: number): Buffer =>
  data.length >= size ? data : Buffer.concat([data, Buffer.alloc(size - data.length)])
function write(data: Buffer, at: number, bytes: Buffer): Buffer {
  const result = data.length >= at + bytes.length ? Buffer.from(data) : grown(data, at + bytes.length)
  bytes.copy(result, at)
  return result
}
const cut = (data: Buffer, size: number): Buffer => Buffer.from(grown(data, size).subarray(0, size))

/** Pseudorandom numbers in [0, 1) (mulberry32). */
export function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

export function lossyDisk() {
  const inodes = new Map<number, Inode>()
  let names = new Map<string, number>()
  let keptNames = new Map<string, number>()
  let changes: ((to: Map<string, number>) => void)[] = []
  let next = ROOT + 1
  let left = Infinity
  let capacity = Infinity

  const change = (apply: (to: Map<string, number>) => void) => {
    apply(names)
    changes.push(apply)
  }
  /** Free bytes. Unlinking frees at once. */
  const room = (): number => {
    const named = new Set(names.values())
    return Math.max(0, capacity - [...inodes].reduce((sum, [ino, { now }]) => sum + (named.has(ino) ? now.length : 0), 0))
  }
  return {
    names: () => names,
    inode: (ino: number) => inodes.get(ino),
    /** Cuts the power after this many more changes and fsyncs. */
    arm: (operations: number) => void (left = operations),
    /** Counts an operation. @returns false after the power cut: the operation is not done */
    powered: (): boolean => left-- > 0,
    create(name: string): number {
      const ino = next++
      inodes.set(ino, { now: Buffer.alloc(0), kept: Buffer.alloc(0), pending: [] })
      change(to => to.set(name, ino))
      return ino
    },
    unlink: (name: string) => change(to => to.delete(name)),
    rename: (from: string, to: string) =>
      change(map => {
        const ino = map.get(from)
        map.delete(from)
        if (ino !== undefined) map.set(to, ino)
      }),
    /** Sets the size of the disk, bytes. */
    limit: (bytes: number) => void (capacity = bytes),
    room,
    /** @returns how many of the bytes fit */
    write(ino: number, at: number, bytes: Buffer): number {
      const inode = inodes.get(ino)!
      const taken = bytes.subarray(0, Math.max(0, inode.now.length - at) + room())
      inode.now = write(inode.now, at, taken)
      inode.pending.push({ at, bytes: taken })
      return taken.length
    },
    resize(ino: number, size: number) {
      const inode = inodes.get(ino)!
      inode.now = cut(inode.now, size)
      inode.pending.push({ size })
    },
    sync(ino: number) {
      const inode = inodes.get(ino)!
      for (const op of inode.pending) inode.kept = 'size' in op ? cut(inode.kept, op.size) : write(inode.kept, op.at, op.bytes)
      inode.pending = []
    },
    /** An fsync that fails: its bytes are never written, and are still read until the power cut. */
    failSync: (ino: number) => void (inodes.get(ino)!.pending = []),
    syncFolder() {
      keptNames = new Map(names)
      changes = []
    },
    /** Restores the power. */
    crash(seed: number) {
      const random = dice(seed)
      for (const inode of inodes.values()) {
        for (const op of inode.pending) {
          if ('size' in op) inode.kept = random() < 0.5 ? cut(inode.kept, op.size) : inode.kept
          else inode.kept = someSectors(inode.kept, op, random)
        }
        inode.now = Buffer.from(inode.kept)
        inode.pending = []
      }
      for (const apply of changes.slice(0, Math.floor(random() * (changes.length + 1)))) apply(keptNames)
      names = new Map(keptNames)
      const named = new Set(names.values())
      for (const ino of inodes.keys()) if (!named.has(ino)) inodes.delete(ino)
      changes = []
      left = Infinity
    },
  }
}

function someSectors(data: Buffer, { at, bytes }: { at: number; bytes: Buffer }, random: () => number): Buffer {
  let result = data
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + SECTOR - ((at + from) % SECTOR))
    if (random() < 0.5) result = write(result, at + from, bytes.subarray(from, to))
    from = to
  }
  return result
}

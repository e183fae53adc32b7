/** Derived data in a file: plain values, compressed, with a hash that shows whether they are, to the bit, what was written. */
import { createHash } from 'node:crypto'
import { deserialize, serialize } from 'node:v8'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

const HASH_BYTES = 32
/** Most of what is packed comes out in one piece. */
const CHUNK_BYTES = 2 ** 20

const hashOf = (body: Buffer): Buffer => createHash('sha256').update(body).digest()

/**
 * @param magic eight bytes at the beginning of the file; the last is the version of its layout
 * @param value what `structuredClone` takes
 */
export function pack(magic: Buffer, value: unknown): Buffer {
  const body = zstdCompressSync(serialize(value))
  return Buffer.concat([magic, hashOf(body), body])
}

/** @throws Error when it is not what `pack` gave for the same `magic` */
export function unpack(magic: Buffer, bytes: Buffer): unknown {
  const body = bytes.subarray(magic.length + HASH_BYTES)
  if (!bytes.subarray(0, magic.length).equals(magic)) throw new Error('it is something else')
  if (!bytes.subarray(magic.length, magic.length + HASH_BYTES).equals(hashOf(body))) throw new Error('it is damaged')
  return deserialize(zstdDecompressSync(body, { chunkSize: CHUNK_BYTES }))
}

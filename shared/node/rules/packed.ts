/** Derived data in a file: plain values, compressed, with a hash that detects any change. */
import { createHash } from 'node:crypto'
import { DefaultDeserializer, DefaultSerializer } from 'node:v8'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

const HASH_BYTES = 32
/** Two lengths between the hash and the compressed bytes: size without compression, and the offset of the columns. */
const LENGTHS_BYTES = 8
const NUMBER_BYTES = Float64Array.BYTES_PER_ELEMENT

const hashOf = (body: Buffer): Buffer => createHash('sha256').update(body).digest()

/**
 * @param magic eight bytes at the beginning of the file; the last is the version of its layout
 * @param value what `structuredClone` accepts; `Float64Array` is the only typed array
 */
export function pack(magic: Buffer, value: unknown): Buffer {
  const writer = new Writer()
  writer.writeHeader()
  writer.writeValue(value)
  const text = writer.releaseBuffer()
  const columnsAt = Math.ceil(text.length / NUMBER_BYTES) * NUMBER_BYTES
  const columns = writer.columns.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength))
  const plain = Buffer.concat([text, Buffer.alloc(columnsAt - text.length), ...columns])
  const lengths = Buffer.alloc(LENGTHS_BYTES)
  lengths.writeUInt32LE(plain.length)
  lengths.writeUInt32LE(columnsAt, LENGTHS_BYTES / 2)
  const body = Buffer.concat([lengths, zstdCompressSync(plain)])
  return Buffer.concat([magic, hashOf(body), body])
}

/** @throws Error when `bytes` is not a result of `pack` with the same `magic` */
export function unpack(magic: Buffer, bytes: Buffer): unknown {
  const body = bytes.subarray(magic.length + HASH_BYTES)
  if (!bytes.subarray(0, magic.length).equals(magic)) throw new Error('not a file of this kind or version')
  if (!bytes.subarray(magic.length, magic.length + HASH_BYTES).equals(hashOf(body))) throw new Error('damaged')
  // With one spare byte the output is a single buffer.
  const chunkSize = Math.max(constants.Z_MIN_CHUNK, body.readUInt32LE() + 1)
  const plain = zstdDecompressSync(body.subarray(LENGTHS_BYTES), { chunkSize })
  const reader = new Reader(plain, body.readUInt32LE(LENGTHS_BYTES / 2))
  reader.readHeader()
  return reader.readValue()
}

/** Writes columns after all other values, so that they are read in place: copying them would take most of the time. */
class Writer extends DefaultSerializer {
  readonly columns: Float64Array[] = []

  _writeHostObject(column: ArrayBufferView): void {
    if (!(column instanceof Float64Array)) throw new TypeError(`${column.constructor.name} is not packed`)
    this.writeUint32(column.length)
    this.columns.push(column)
  }
}

class Reader extends DefaultDeserializer {
  private readonly bytes: ArrayBufferLike
  private at: number

  constructor(plain: Buffer, columnsAt: number) {
    super(plain)
    const aligned = plain.byteOffset % NUMBER_BYTES === 0 ? plain : Uint8Array.from(plain)
    this.bytes = aligned.buffer
    this.at = aligned.byteOffset + columnsAt
  }

  _readHostObject(): Float64Array {
    const length = this.readUint32()
    const column = new Float64Array(this.bytes, this.at, length)
    this.at += column.byteLength
    return column
  }
}

/** Encrypts a stream with a passphrase, in chunks that are authenticated one by one. The bytes are drawn in FORMAT.md. */
import { createCipheriv, createDecipheriv, randomBytes, scrypt, type ScryptOptions } from 'node:crypto'

const MAGIC = Buffer.from('PLENUMBK')
const VERSION = 1
const SALT_BYTES = 16
/** Magic, version, log2 N, r, p, salt. */
const HEADER_BYTES = MAGIC.length + 4 + SALT_BYTES
const CHUNK_BYTES = 64 * 1024
const TAG_BYTES = 16
const KEY_BYTES = 32
const NONCE_BYTES = 12

type Cost = { log2N: number; r: number; p: number }
/** 32 MB of memory and about 0.3 s. @source OWASP Password Storage Cheat Sheet: N = 2^15, r = 8, p = 3 */
const COST: Cost = { log2N: 15, r: 8, p: 3 }
/** A header that asks for more is refused: 1 GB of memory at most. */
const COST_MAX: Cost = { log2N: 20, r: 8, p: 16 }

/** The file is not a backup, is damaged, or was encrypted with another passphrase. The message says which and where. */
export class BackupError extends Error {
  override name = 'BackupError'
}

/** @returns the encrypted bytes, header first */
export async function* encrypt(source: AsyncIterable<Uint8Array>, passphrase: string): AsyncGenerator<Buffer> {
  const header = Buffer.concat([MAGIC, Buffer.from([VERSION, COST.log2N, COST.r, COST.p]), randomBytes(SALT_BYTES)])
  const key = await keyOf(passphrase, COST, header.subarray(-SALT_BYTES))
  yield header
  let n = 0
  for await (const { bytes, isLast } of chunksOf(source, CHUNK_BYTES)) {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(n++, isLast)).setAAD(header)
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
  }
}

/**
 * The reverse of `encrypt`. Bytes are given out only after their chunk was authenticated.
 *
 * @throws BackupError when the passphrase is wrong, or the file is damaged, cut off or no backup
 */
export async function* decrypt(source: AsyncIterable<Uint8Array>, passphrase: string): AsyncGenerator<Buffer> {
  const { header, rest } = await splitHeader(source)
  const key = await keyOf(passphrase, costOf(header), header.subarray(-SALT_BYTES))
  let n = 0
  for await (const { bytes, isLast } of chunksOf(rest, CHUNK_BYTES + TAG_BYTES)) {
    if (bytes.length < TAG_BYTES) throw new BackupError('the backup is cut off')
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(n, isLast)).setAAD(header)
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    const text = decipher.update(bytes.subarray(0, -TAG_BYTES))
    try {
      decipher.final()
    } catch (error) {
      throw new BackupError(damageText(n), { cause: error })
    }
    yield text
    n++
  }
}

const damageText = (n: number): string =>
  n === 0
    ? 'the passphrase is wrong, or the beginning of the backup is damaged'
    : `the backup is damaged or cut off at byte ${HEADER_BYTES + n * (CHUNK_BYTES + TAG_BYTES)} or within the next ${CHUNK_BYTES}`

/** Each chunk has its own nonce below a key of its own; the last chunk's differs, so that a cut at a chunk's end is noticed. */
function nonceOf(n: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce.writeUInt8(isLast ? 1 : 0, 0)
  nonce.writeUInt32BE(n, NONCE_BYTES - 4)
  return nonce
}

function keyOf(passphrase: string, { log2N, r, p }: Cost, salt: Buffer): Promise<Buffer> {
  const N = 2 ** log2N
  // OpenSSL asks for 128 × N × r bytes and a little more.
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r }
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}

function costOf(header: Buffer): Cost {
  const [version, log2N, r, p] = header.subarray(MAGIC.length, MAGIC.length + 4) as unknown as [number, number, number, number]
  if (version !== VERSION) throw new BackupError(`the backup has format ${version}, this program reads format ${VERSION}`)
  const isSane = log2N >= 1 && log2N <= COST_MAX.log2N && r >= 1 && r <= COST_MAX.r && p >= 1 && p <= COST_MAX.p
  if (!isSane) throw new BackupError('the header of the backup is damaged')
  return { log2N, r, p }
}

async function splitHeader(source: AsyncIterable<Uint8Array>) {
  const reader = source[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < HEADER_BYTES) {
    const next = await reader.next()
    if (next.done) break
    head = Buffer.concat([head, next.value])
  }
  if (!head.subarray(0, MAGIC.length).equals(MAGIC)) throw new BackupError('the file is no backup')
  if (head.length < HEADER_BYTES) throw new BackupError('the backup is cut off')
  return { header: head.subarray(0, HEADER_BYTES), rest: remaining(head.subarray(HEADER_BYTES), reader) }
}

async function* remaining(first: Buffer, reader: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first
  for (let next = await reader.next(); !next.done; next = await reader.next()) yield next.value
}

/** Cuts a stream into chunks of one size and a last one of at most that size; an empty stream is one empty chunk. */
async function* chunksOf(source: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<{ bytes: Buffer; isLast: boolean }> {
  let waiting: Uint8Array[] = []
  let length = 0
  for await (const bytes of source) {
    waiting.push(bytes)
    length += bytes.length
    if (length <= size) continue
    const joined = Buffer.concat(waiting)
    let at = 0
    // The last chunk may be full, so a full one waits for the next byte.
    for (; joined.length - at > size; at += size) yield { bytes: joined.subarray(at, at + size), isLast: false }
    waiting = [joined.subarray(at)]
    length = joined.length - at
  }
  yield { bytes: Buffer.concat(waiting), isLast: true }
}

/** Reads small archives that nobody has tampered with: entries stored or deflated, sizes in the central directory. */
import { inflateRawSync } from 'node:zlib'

const CENTRAL = Buffer.from('PK\u0001\u0002')

export function unzipSync(archive: Buffer): { name: string; text: string }[] {
  const files: { name: string; text: string }[] = []
  for (let at = archive.indexOf(CENTRAL); at >= 0; at = archive.indexOf(CENTRAL, at + 46)) {
    const method = archive.readUInt16LE(at + 10)
    const packed = archive.readUInt32LE(at + 20)
    const name = archive.toString('utf8', at + 46, at + 46 + archive.readUInt16LE(at + 28))
    const local = archive.readUInt32LE(at + 42)
    const from = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    const bytes = archive.subarray(from, from + packed)
    files.push({ name, text: (method === 0 ? bytes : inflateRawSync(bytes)).toString('utf8') })
  }
  return files
}

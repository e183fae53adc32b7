/** Lists of revoked certificates as a folder in which OpenSSL and Erlang look them up: a file for each, named after its issuer. */
import 'reflect-metadata'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { PemConverter, X509Crl } from '@peculiar/x509'
import { makeFolder, replaceFile } from '#shared/node/files.ts'

/** ASN.1 tags (X.690). */
const SEQUENCE = 0x30
const SET = 0x31
const UTF8_STRING = 0x0c

/**
 * Writes each list of a PEM file as `<hash of the issuer>.r<n>`. A list that is replaced counts from the next handshake.
 *
 * @param folder created when it is missing
 * @returns the paths
 */
export async function writeCrlFolder(crl_pem: string, folder: string): Promise<string[]> {
  await makeFolder(folder)
  const taken = new Map<string, number>()
  const paths: string[] = []
  for (const raw of PemConverter.decode(crl_pem)) {
    const hash = nameHash(Buffer.from(new X509Crl(raw).issuerName.toArrayBuffer()))
    const n = taken.get(hash) ?? 0
    taken.set(hash, n + 1)
    const path = join(folder, `${hash}.r${n}`)
    await replaceFile(path, `${PemConverter.encode(raw, 'X509 CRL')}\n`)
    paths.push(path)
  }
  return paths
}

/**
 * The hash by which OpenSSL names files after a subject or issuer.
 *
 * @param name DER of an X.501 name
 * @returns eight hexadecimal digits
 * @source OpenSSL, X509_NAME_hash: the first four bytes of SHA-1, little-endian, over the sets of the name with each value as
 *   UTF8String, ASCII letters in lower case, blanks trimmed and joined; the outer sequence is left out
 */
function nameHash(name: Buffer): string {
  const sets = partsOf(contentOf(name)).map(set => tagged(SET, Buffer.concat(partsOf(contentOf(set)).map(canonical))))
  return createHash('sha1').update(Buffer.concat(sets)).digest().readUInt32LE(0).toString(16).padStart(8, '0')
}

/** Attribute and value, with the value in its canonical form. */
function canonical(pair: Buffer): Buffer {
  const [attribute, value] = partsOf(contentOf(pair)) as [Buffer, Buffer]
  const text = contentOf(value)
    .toString('utf8')
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[A-Z]/g, letter => letter.toLowerCase())
  return tagged(SEQUENCE, Buffer.concat([attribute, tagged(UTF8_STRING, Buffer.from(text))]))
}

/** @returns where the content of a DER element begins and ends; names are far shorter than 64 KiB */
function extentOf(der: Buffer): { begin: number; end: number } {
  const first = der[1]!
  const more = first < 0x80 ? 0 : first & 0x7f
  const length = more === 0 ? first : der.readUIntBE(2, more)
  return { begin: 2 + more, end: 2 + more + length }
}

function contentOf(der: Buffer): Buffer {
  const { begin, end } = extentOf(der)
  return der.subarray(begin, end)
}

function partsOf(content: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let rest = content; rest.length > 0; ) {
    const { end } = extentOf(rest)
    parts.push(rest.subarray(0, end))
    rest = rest.subarray(end)
  }
  return parts
}

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content
  const head = length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), content])
}

/** What makes a box this box and no other: its name, its certificate, its secrets. Made once, at the first boot. */
import { randomBytes, randomInt, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, replaceFile } from '#shared/node/files.ts'
import { newSite } from '../core/system/first-site.ts'
import { issueServer, makeCa } from '#shared/node/pki/pki.ts'

/** Letters and digits that nobody confuses on a console. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'
const PRIVATE = 0o600
const READABLE = 0o644
const PRIVATE_FOLDER = 0o700
const GROUPS = 4
/** The page's certificate is renewed by a factory reset only, so it outlasts the box. */
const CERT_DAYS = 7305

const letters = (count: number): string => Array.from({ length: count }, () => ALPHABET[randomInt(ALPHABET.length)]!).join('')

/** Where a box keeps what it is. */
type Places = { name: string; tls: string; workspace: string }

/** @returns the name of the box, `plenum-` and four characters */
export async function boxName({ name }: Pick<Places, 'name'>): Promise<string> {
  if (existsSync(name)) return readFileSync(name, 'utf8').trim()
  const made = `plenum-${letters(GROUPS)}`
  await replaceFile(name, `${made}\n`, READABLE)
  return made
}

/**
 * Makes the certificate of the page, of an authority of this box alone whose key is not kept.
 *
 * @param now ms
 * @returns its SHA-256 fingerprint, which a browser shows beside its warning
 */
export async function pageCertificate({ tls }: Pick<Places, 'tls'>, host: string, now: number): Promise<string> {
  const [cert, key] = [join(tls, 'cert.pem'), join(tls, 'key.pem')]
  if (!existsSync(cert) || !existsSync(key)) {
    await makeFolder(tls, PRIVATE_FOLDER)
    const authority = await makeCa({ name: host, now, days: CERT_DAYS })
    const issued = await issueServer(authority, {
      cn: host,
      hosts: [host, `${host}.local`, 'localhost', '127.0.0.1'],
      now,
      days: CERT_DAYS,
    })
    await replaceFile(key, issued.key_pem, PRIVATE)
    await replaceFile(cert, issued.cert_pem + authority.cert_pem, PRIVATE)
  }
  return pageFingerprint({ tls })
}

/** @throws Error where no certificate was made yet */
export const pageFingerprint = ({ tls }: Pick<Places, 'tls'>): string =>
  new X509Certificate(readFileSync(join(tls, 'cert.pem'))).fingerprint256

/** @returns the first password of the login admin, when it was made now */
export async function firstSecrets({ workspace }: Pick<Places, 'workspace'>): Promise<string | undefined> {
  const file = join(workspace, 'auth.env.local')
  if (existsSync(file)) return undefined
  await makeFolder(workspace, PRIVATE_FOLDER)
  const password = Array.from({ length: GROUPS }, () => letters(GROUPS)).join('-')
  const secret = randomBytes(48).toString('base64url')
  await replaceFile(file, `SERVICE_JWT_SECRET=${secret}\nSERVICE_ADMIN_PASSWORD=${password}\n`, PRIVATE)
  return password
}

/** A box that serves no building yet starts with an empty one, so that its pages and discovery work. */
export async function firstSite({ workspace }: Pick<Places, 'workspace'>, host: string): Promise<void> {
  const folder = join(workspace, 'config')
  const file = join(folder, 'site.json')
  if (existsSync(file)) return
  await makeFolder(folder, PRIVATE_FOLDER)
  await replaceFile(file, `${JSON.stringify(newSite(host), undefined, 2)}\n`, PRIVATE)
}

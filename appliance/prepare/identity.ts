/** What makes a box this box and no other: its name, its certificate, its secrets. Made at the first boot; the certificate is renewed. */
import { randomBytes, randomInt, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY } from '#shared/core/time.ts'
import { makeFolder, replaceFile } from '#shared/node/files.ts'
import { readServerTls } from '#shared/node/http/server-tls.ts'
import { newSite } from '../core/system/first-site.ts'
import { CERT_DAYS, issueServer, issueServerFor, makeCa } from '#shared/node/pki/pki.ts'

/** Letters and digits that nobody confuses on a console. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'
const PRIVATE = 0o600
const READABLE = 0o644
const PRIVATE_FOLDER = 0o700
const GROUPS = 4
/** The certificate of the page is renewed when less than this part of its life is left. */
const RENEW_PART = 1 / 3

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
 * Makes or renews the certificate of the page, of an authority of this box alone whose key is not kept. Apple's systems refuse
 * a certificate of more than 825 days without a way past the warning. Renewal keeps the key, so that it replaces one file.
 *
 * @param now ms
 * @returns its SHA-256 fingerprint, which a browser shows beside its warning
 * @throws Error when a file cannot be written
 * @source https://support.apple.com/en-us/103769
 */
export async function pageCertificate({ tls }: Pick<Places, 'tls'>, host: string, now: number): Promise<string> {
  const pair = await readServerTls(tls).catch(() => undefined)
  if (pair && mayStay(pair.cert, host, now)) return pageFingerprint({ tls })
  await makeFolder(tls, PRIVATE_FOLDER)
  const authority = await makeCa({ name: host, now, days: CERT_DAYS })
  const request = { cn: host, hosts: [host, `${host}.local`, 'localhost', '127.0.0.1'], now }
  const issued = pair ? await issueServerFor(authority, request, pair.key) : await issueServer(authority, request)
  if (!pair) await replaceFile(join(tls, 'key.pem'), issued.key_pem, PRIVATE)
  await replaceFile(join(tls, 'cert.pem'), issued.cert_pem + authority.cert_pem, PRIVATE)
  return pageFingerprint({ tls })
}

/** One that another authority issued is somebody else's to renew. One with more than a whole life left was made by a clock that was ahead. */
function mayStay(cert: string, host: string, now: number): boolean {
  const { issuer, validToDate } = new X509Certificate(cert)
  const left = (validToDate.getTime() - now) / DAY
  return issuer !== `CN=${host}` || (left > CERT_DAYS * RENEW_PART && left < CERT_DAYS + 1)
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

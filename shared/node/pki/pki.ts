/**
 * Certificates of the authority, clients and the broker, and the revocation list. ECDSA P-256; all inputs and outputs are
 * PEM.
 */
import 'reflect-metadata'
import { createPublicKey, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  Pkcs10CertificateRequest,
  Pkcs10CertificateRequestGenerator,
  type PublicKey,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
  X509Certificates,
  X509Crl,
  X509CrlGenerator,
  X509CrlReason,
} from '@peculiar/x509'
import { DAY } from '#shared/core/time.ts'
import { serialOf } from './certificate.ts'
import { fingerprintOf } from './fingerprint.ts'

/** A certificate and its private key, PEM. */
export type Pair = { cert_pem: string; key_pem: string }
export type Issued = { cert_pem: string; serial: string; cn: string; not_after: number }
type Validity = { now: number; days?: number }

const CA_DAYS = 3652
/** Life of a certificate, days. */
export const CERT_DAYS = 397
/** A certificate is valid from this long before it is issued, so that a slow clock does not refuse it. */
const SKEW_MS = DAY
const EC = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGNING = { ...EC, hash: 'SHA-256' } as const

/** Creates a certificate authority, valid for ten years by default. One intermediate authority may stand below it. */
export async function makeCa({ name, now, days = CA_DAYS }: Validity & { name: string }): Promise<Pair> {
  const keys = await crypto.subtle.generateKey(EC, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    keys,
    signingAlgorithm: SIGNING,
    ...validity(now, days),
    extensions: await authorityExtensions(keys, 1),
  })
  return { cert_pem: withNewline(certificate.toString('pem')), key_pem: await exportKey(keys.privateKey) }
}

/**
 * Creates an intermediate authority: it issues certificates of edges, and its key may be on the hub. Its certificate ends no
 * later than that of the authority above it.
 *
 * @returns `cert_pem` has the certificates of both, the own one first
 * @throws RangeError when the authority above may issue none
 */
export async function makeIntermediateCa(
  above: Pair,
  { name, now, days = CA_DAYS }: Validity & { name: string },
): Promise<Issued & Pair> {
  const authority = readFirst(above.cert_pem)
  const { pathLength } = authority.getExtension(BasicConstraintsExtension) ?? {}
  if (pathLength !== undefined && pathLength < 1) {
    throw new RangeError('the authority above was made for edges alone: make a new one, which may have an intermediate one')
  }
  const keys = await crypto.subtle.generateKey(EC, true, ['sign', 'verify'])
  const { notBefore, notAfter } = validity(now, days)
  const certificate = await X509CertificateGenerator.create({
    subject: [{ CN: [name] }],
    issuer: authority.subjectName,
    publicKey: keys.publicKey,
    signingKey: await importKey(above.key_pem),
    signingAlgorithm: SIGNING,
    notBefore,
    notAfter: notAfter < authority.notAfter ? notAfter : authority.notAfter,
    extensions: [await AuthorityKeyIdentifierExtension.create(authority), ...(await authorityExtensions(keys, 0))],
  })
  const cert_pem = withNewline(certificate.toString('pem')) + withNewline(above.cert_pem)
  const issued = { serial: serialOf(certificate.serialNumber), cn: name, not_after: certificate.notAfter.getTime() }
  return { ...issued, cert_pem, key_pem: await exportKey(keys.privateKey) }
}

/** @param below number of authorities that may stand between this one and a certificate of an edge */
const authorityExtensions = async (keys: webcrypto.CryptoKeyPair, below: number): Promise<Extension[]> => [
  new BasicConstraintsExtension(true, below, true),
  new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
  await SubjectKeyIdentifierExtension.create(keys.publicKey),
]

/** The first certificate of a file; in that of an authority it is its own. */
const readFirst = (cert_pem: string): X509Certificate => new X509Certificate(PemConverter.decodeFirst(cert_pem))

/** Issues a certificate, with a new key, for a client whose common name is `cn`. */
export async function issueClient(ca: Pair, { cn, now, days = CERT_DAYS }: Validity & { cn: string }): Promise<Issued & Pair> {
  const keys = await crypto.subtle.generateKey(EC, true, ['sign', 'verify'])
  const issued = await issue(ca, cn, keys.publicKey, { now, days }, [
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth]),
  ])
  return { ...issued, key_pem: await exportKey(keys.privateKey) }
}

type ServerRequest = Validity & { cn?: string; hosts: string[] }

/** Issues the certificate of a server, with a new key, for host names and addresses. @param cn the broker's name when absent */
export async function issueServer(ca: Pair, request: ServerRequest): Promise<Issued & Pair> {
  const keys = await crypto.subtle.generateKey(EC, true, ['sign', 'verify'])
  return issueServerFor(ca, request, await exportKey(keys.privateKey))
}

/** As `issueServer`, for a key on P-256 that the server has. @throws Error when the key is of another kind or unreadable */
export async function issueServerFor(
  ca: Pair,
  { cn = 'broker', hosts, now, days = CERT_DAYS }: ServerRequest,
  key_pem: string,
): Promise<Issued & Pair> {
  const spki = createPublicKey(key_pem).export({ type: 'spki', format: 'der' })
  const names = hosts.map(value => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value }))
  const issued = await issue(ca, cn, await crypto.subtle.importKey('spki', spki, EC, true, ['verify']), { now, days }, [
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension(names),
  ])
  return { ...issued, key_pem }
}

/**
 * Issues a client certificate for a request, so that the key need not leave its machine.
 *
 * @throws Error when the request cannot be read, is not signed by its own key, or its key is of another kind than `KEYS`
 */
export async function issueForRequest(ca: Pair, options: Validity & { csr_pem: string; cn: string }): Promise<Issued> {
  const { csr_pem, cn, now, days = CERT_DAYS } = options
  return issue(ca, cn, await verifyRequest(csr_pem), { now, days }, [
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth]),
  ])
}

/** @returns the key of a certificate request. @throws Error as `issueForRequest` does */
export async function verifyRequest(csr_pem: string): Promise<webcrypto.CryptoKey> {
  const request = readRequest(csr_pem)
  const algorithm = keyOf(request.publicKey)
  // A key that cannot be used makes the library throw.
  if (!(await request.verify().catch(() => false))) throw new Error('the request is not signed by the key that it names')
  return request.publicKey.export(algorithm, ['verify'])
}

/** Keys that devices of other makes have. Ours are on P-256. @source NIST SP 800-57 Part 1 Rev. 5, 5.6.1: 112 bits and more */
const KEYS = 'RSA of 2048 to 4096 bits, or on one of the curves P-256, P-384 and P-521'
const [RSA_MIN, RSA_MAX] = [2048, 4096]
const CURVES = ['P-256', 'P-384', 'P-521']

/** @throws Error for a key that is too weak, too slow or of another kind */
function keyOf({ algorithm }: PublicKey): webcrypto.EcKeyImportParams | webcrypto.RsaHashedImportParams {
  const { name, namedCurve = '', modulusLength = 0 } = algorithm as { name: string; namedCurve?: string; modulusLength?: number }
  if (name === 'ECDSA' && CURVES.includes(namedCurve)) return { name, namedCurve }
  if (name.startsWith('RSA') && modulusLength >= RSA_MIN && modulusLength <= RSA_MAX)
    return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  throw new Error(`the key is not ${KEYS}`)
}

/** @param csr PEM, or base64 of DER. @throws Error that says so when it is no request */
function readRequest(csr: string): Pkcs10CertificateRequest {
  try {
    return new Pkcs10CertificateRequest(csr)
  } catch {
    throw new Error('it is no certificate request (PKCS #10)')
  }
}

/** Creates a key and a request for its certificate. @param cn the common name that the certificate shall have */
export async function makeRequest(cn: string): Promise<{ csr_pem: string; key_pem: string }> {
  const keys = await crypto.subtle.generateKey(EC, true, ['sign', 'verify'])
  const request = await Pkcs10CertificateRequestGenerator.create({ name: [{ CN: [cn] }], keys, signingAlgorithm: SIGNING })
  return { csr_pem: withNewline(request.toString('pem')), key_pem: await exportKey(keys.privateKey) }
}

/** The subject of a certificate request, as `CN=edge:A:e1`. @throws Error when it cannot be read */
export const requestName = (csr_pem: string): string => readRequest(csr_pem).subject

/** Of the key of a certificate request, as `keyFingerprint` of its private part. @throws Error when it cannot be read */
export const requestFingerprint = (csr_pem: string): string => fingerprintOf(readRequest(csr_pem).publicKey.rawData)

/** @param base64 a certificate request as EST carries it, PKCS #10 without the lines of PEM. @throws Error when it is none */
export const toCsrPem = (base64: string): string => withNewline(readRequest(base64.replace(/\s/g, '')).toString('pem'))

/** @returns certificates as a PKCS #7 that holds nothing else, base64 in lines. @source RFC 5272, 4.1; RFC 7030, 4.1.3 */
export function certsOnly(certificates_pem: string): string {
  const all = new X509Certificates(PemConverter.decode(certificates_pem).map(raw => new X509Certificate(raw)))
  const base64 = Buffer.from(all.export('raw')).toString('base64')
  return `${base64.match(/.{1,64}/g)!.join('\n')}\n`
}

/**
 * Issues a new certificate for the key, the names and the purposes of an earlier one.
 *
 * @returns `cert_pem` has the certificates that followed in the file, such as those of authorities
 * @throws Error when the earlier one was not issued by this authority
 */
export async function reissue(ca: Pair, { cert_pem, now, days = CERT_DAYS }: Validity & { cert_pem: string }): Promise<Issued> {
  const [before, ...others] = PemConverter.decode(cert_pem).map(raw => new X509Certificate(raw))
  const { publicKey: authorityKey } = readFirst(ca.cert_pem)
  if (!(await before!.verify({ publicKey: authorityKey, signatureOnly: true }))) {
    throw new Error(`the certificate of ${before!.subject} was not issued by this authority`)
  }
  const [cn = ''] = before!.subjectName.getField('CN')
  const kept = [ExtendedKeyUsageExtension, SubjectAlternativeNameExtension].map(one => before!.getExtension<Extension>(one))
  const extensions = kept.filter(extension => extension !== null)
  const issued = await issue(
    ca,
    cn,
    await before!.publicKey.export(keyOf(before!.publicKey), ['verify']),
    { now, days },
    extensions,
  )
  return { ...issued, cert_pem: issued.cert_pem + others.map(one => withNewline(one.toString('pem'))).join('') }
}

async function issue(
  ca: Pair,
  cn: string,
  publicKey: webcrypto.CryptoKey,
  { now, days }: { now: number; days: number },
  extensions: Extension[],
): Promise<Issued> {
  const authority = readFirst(ca.cert_pem)
  const certificate = await X509CertificateGenerator.create({
    subject: [{ CN: [cn] }],
    issuer: authority.subjectName,
    publicKey,
    signingKey: await importKey(ca.key_pem),
    signingAlgorithm: SIGNING,
    ...validity(now, days),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      await AuthorityKeyIdentifierExtension.create(authority),
      await SubjectKeyIdentifierExtension.create(publicKey),
      ...extensions,
    ],
  })
  const { serialNumber, notAfter } = certificate
  return { cert_pem: withNewline(certificate.toString('pem')), serial: serialOf(serialNumber), cn, not_after: notAfter.getTime() }
}

/** Signs the list of revoked serials. It does not expire: an old list is better than none where no one renews it. */
export async function makeCrl(ca: Pair, revoked: { serial: string; revoked_at: number }[], now: number): Promise<string> {
  const authority = readFirst(ca.cert_pem)
  const crl = await X509CrlGenerator.create({
    issuer: authority.subjectName,
    thisUpdate: new Date(now - SKEW_MS),
    nextUpdate: authority.notAfter,
    entries: revoked.map(({ serial, revoked_at }) => ({
      serialNumber: serial,
      revocationDate: new Date(revoked_at),
      reason: X509CrlReason.privilegeWithdrawn,
    })),
    signingAlgorithm: SIGNING,
    signingKey: await importKey(ca.key_pem),
  })
  return withNewline(PemConverter.encode(crl.rawData, 'X509 CRL')) // RFC 7468, 6
}

/**
 * Puts revocation lists together, one for each authority: the one that was signed last, so that an old copy brings back no
 * certificate that was revoked since.
 *
 * @param lists PEM, each with any number of lists; of those of the first authority, which the caller makes, the last counts
 * @param ca_pem the authorities; the list of the first comes first
 * @throws Error when a list is not signed by one of them
 */
export async function joinCrls(lists: readonly string[], ca_pem: string): Promise<string> {
  const authorities = PemConverter.decode(ca_pem).map(raw => new X509Certificate(raw))
  const newest = new Map<number, { raw: ArrayBuffer; at: Date; count: number }>()
  for (const raw of lists.flatMap(list => PemConverter.decode(list))) {
    const crl = new X509Crl(raw)
    const signed = await Promise.all(authorities.map(authority => crl.verify({ publicKey: authority })))
    const by = signed.indexOf(true)
    if (by < 0) throw new Error('a list of revoked certificates is not signed by an authority that is trusted')
    const { thisUpdate: at, entries } = crl
    const held = newest.get(by)
    // Two of one second: the longer one is the later one.
    const isNewer = !held || held.at < at || (held.at.getTime() === at.getTime() && held.count < entries.length)
    if (by === 0 || isNewer) newest.set(by, { raw, at, count: entries.length })
  }
  const ordered = [...newest].toSorted(([a], [b]) => a - b)
  return ordered.map(([, { raw }]) => withNewline(PemConverter.encode(raw, 'X509 CRL'))).join('')
}

/** @returns the first certificate of a list and those above it, without the others */
export async function chainOf(ca_pem: string): Promise<string> {
  const all = PemConverter.decode(ca_pem).map(raw => new X509Certificate(raw))
  const chain = all.slice(0, 1)
  for (let last = chain[0]!; last.issuer !== last.subject; last = chain.at(-1)!) {
    const verified = await Promise.all(all.map(one => last.verify({ publicKey: one, signatureOnly: true })))
    const above = all[verified.indexOf(true)]
    if (!above) break
    chain.push(above)
  }
  return chain.map(one => withNewline(one.toString('pem'))).join('')
}

/**
 * @returns all certificates of both lists, each once, those of the first list first
 * @throws Error when one is no authority, or none is added
 */
export function joinAuthorities(ca_pem: string, added_pem: string): string {
  if (!added_pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('there is no certificate of an authority in it')
  const all = [ca_pem, added_pem].flatMap(pem => PemConverter.decode(pem).map(raw => new X509Certificate(raw)))
  const wrong = all.find(one => one.getExtension(BasicConstraintsExtension)?.ca !== true)
  if (wrong) throw new Error(`the certificate of ${wrong.subject} is not one of an authority`)
  return [...new Set(all.map(one => withNewline(one.toString('pem'))))].join('')
}

/**
 * Reads revocation lists.
 *
 * @param ca_pem one or more authorities
 * @returns serials as `serialOf` writes them
 * @throws Error when there is none, or one is not signed by one of the authorities
 */
export async function readCrl(crl_pem: string, ca_pem: string): Promise<Set<string>> {
  const authorities = PemConverter.decode(ca_pem).map(raw => new X509Certificate(raw))
  const serials = new Set<string>()
  const lists = PemConverter.decode(crl_pem)
  if (lists.length === 0) throw new Error('there is no list of revoked certificates in it')
  for (const raw of lists) {
    const crl = new X509Crl(raw)
    const signed = await Promise.all(authorities.map(authority => crl.verify({ publicKey: authority })))
    if (!signed.includes(true)) throw new Error('the list of revoked certificates is not signed by the authority')
    for (const { serialNumber } of crl.entries) serials.add(serialOf(serialNumber))
  }
  return serials
}

const validity = (now: number, days: number) => ({ notBefore: new Date(now - SKEW_MS), notAfter: new Date(now + days * DAY) })
const withNewline = (pem: string): string => `${pem.trimEnd()}\n`

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  return withNewline(PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY'))
}
const importKey = (pem: string): Promise<webcrypto.CryptoKey> =>
  crypto.subtle.importKey('pkcs8', PemConverter.decodeFirst(pem), EC, false, ['sign'])

/** The broker's and central's files as provisioning lays them out, checked before anything listens or connects, and again when they change. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import type { Logger } from 'pino'
import { type CentralIdentity, parseIdentity } from '#shared/core/auth/identity.ts'
import { countOf } from '#shared/core/number-text.ts'
import { readEdgeTokensKey } from '#shared/node/auth/edge-token.ts'
import { isIssuedBy } from '#shared/node/pki/broker-certificate.ts'
import { ageComplaint } from '#shared/node/pki/kit-read.ts'
import { type Pair, readCrl } from '#shared/node/pki/pki.ts'
import { PKI_FILES } from '#shared/node/pki/pki-files.ts'
import { type WatchedFiles, watchFiles } from '#shared/node/watched-files.ts'
import { TLS_MINIMUM } from '#shared/node/pki/tls-minimum.ts'

/** A certificate and its key, and the authorities whose certificates are accepted; one or more. */
export type TrustingPair = Pair & { ca_pem: string }
/** Each is watched by itself: a certificate that cannot be used does not keep a revocation from the broker. */
export type BrokerFiles = { tls: WatchedFiles<TrustingPair>; revoked: WatchedFiles<ReadonlySet<string>> }

/** Most serials in one line of the log. */
const LOST_SHOWN = 5

/** Options of a TLS server that asks for certificates. */
export const tlsOptions = ({ ca_pem, cert_pem, key_pem }: TrustingPair) =>
  ({ ca: ca_pem, cert: cert_pem, key: key_pem, ...TLS_MINIMUM }) as const

/** @throws Error that names the file that cannot be read, or is not what it should be */
export async function openBrokerFiles(dir: string, log: Logger): Promise<BrokerFiles> {
  const [ca, crlPath] = [join(dir, PKI_FILES.ca.cert), join(dir, PKI_FILES.crl)]
  const { cert, key } = PKI_FILES.broker
  const tls = await watchFiles<TrustingPair>({
    name: 'certificate of the broker',
    paths: [ca, join(dir, cert), join(dir, key)],
    read: async before => {
      const ca_pem = await readCa(dir)
      const files = { ...(await readPair(dir, PKI_FILES.broker)), ca_pem }
      const complaint = before && ageComplaint(files, Date.now())
      if (complaint !== undefined) refuse(join(dir, cert), new Error(complaint))
      // What TLS itself refuses, such as a key that is too short, must not reach a server that runs.
      if (before) createSecureContext(tlsOptions(files))
      return files
    },
    log,
  })
  let authorities = await readCa(dir)
  const revoked = await watchFiles<ReadonlySet<string>>({
    name: 'list of revoked certificates',
    paths: [ca, crlPath],
    read: async before => {
      const [crl_pem, ca_pem] = [await readFile(crlPath, 'utf8'), await readCa(dir)]
      const next = await readCrl(crl_pem, ca_pem).catch(error => refuse(crlPath, error))
      const isSame = authorities === ca_pem
      authorities = ca_pem
      // Whoever is trusted no more takes its list along; else no certificate comes back, as from a list of a backup.
      const lost = before && isSame ? [...before].filter(serial => !next.has(serial)) : []
      if (lost.length === 0) return next
      const serials = lost.slice(0, LOST_SHOWN).join(', ')
      log.warn(
        `${crlPath} is an older list: it lacks ${countOf(lost.length, 'revoked certificate')}, refused until the next start: ${serials}`,
      )
      return new Set([...next, ...lost])
    },
    log,
  })
  return { tls, revoked }
}

/** `tokensKey`: from which the tokens of edges are made; undefined where the folder has none. */
export type CentralFiles = TrustingPair & { dir: string; tokensKey: string | undefined }

/** @throws Error that names the file that cannot be read, or is not what it should be */
export async function readCentralFiles(dir: string): Promise<CentralFiles> {
  return { ...(await readPair(dir, PKI_FILES.central)), dir, ca_pem: await readCa(dir), tokensKey: await readEdgeTokensKey(dir) }
}

/**
 * Of which site, or sites, a certificate of central is.
 *
 * @throws Error when it is another one
 */
export function centralIdentity(cert_pem: string): CentralIdentity {
  const { subject } = new X509Certificate(cert_pem)
  const identity = parseIdentity(subject.replace(/^CN=/, ''))
  if (identity?.kind !== 'central') throw new Error(`the certificate of ${subject} is not one of central`)
  return identity
}

/**
 * The files of central, read again when they change. A certificate that the broker would refuse is not used, nor one of another
 * name: what central subscribes to depends on it.
 *
 * @throws Error as `readCentralFiles` does
 */
export function openCentralFiles(dir: string, log: Logger): Promise<WatchedFiles<CentralFiles>> {
  const at = (name: string) => join(dir, name)
  const { cert, key } = PKI_FILES.central
  return watchFiles<CentralFiles>({
    name: 'certificate of central',
    paths: [PKI_FILES.ca.cert, cert, key].map(at),
    read: async before => {
      const files = await readCentralFiles(dir)
      const complaint = before && complaintOfClient(files, before)
      if (complaint !== undefined) refuse(at(cert), new Error(complaint))
      return files
    },
    log,
  })
}

function complaintOfClient({ cert_pem, ca_pem }: TrustingPair, before: TrustingPair): string | undefined {
  const [certificate, { subject }] = [new X509Certificate(cert_pem), new X509Certificate(before.cert_pem)]
  if (certificate.subject !== subject) return `it is of ${certificate.subject}; restart the hub to change from ${subject}`
  if (!isIssuedBy(certificate, ca_pem)) return `no authority in ${PKI_FILES.ca.cert} has issued it`
  return ageComplaint({ cert_pem }, Date.now())
}

async function readCa(dir: string): Promise<string> {
  const path = join(dir, PKI_FILES.ca.cert)
  const pem = await readFile(path, 'utf8')
  parsed(path, () => new X509Certificate(pem))
  return pem
}

async function readPair(dir: string, { cert, key }: { cert: string; key: string }): Promise<Pair> {
  const [certPath, keyPath] = [join(dir, cert), join(dir, key)]
  const cert_pem = await readFile(certPath, 'utf8')
  const key_pem = await readFile(keyPath, 'utf8')
  const certificate = parsed(certPath, () => new X509Certificate(cert_pem))
  const own = parsed(keyPath, () => createPrivateKey(key_pem))
  if (!certificate.checkPrivateKey(own)) refuse(keyPath, new Error(`it is not the key of ${cert}`))
  return { cert_pem, key_pem }
}

function parsed<T>(path: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    return refuse(path, error as Error)
  }
}

function refuse(path: string, error: Error): never {
  throw new Error(`${path} cannot be used: ${error.message}`, { cause: error })
}

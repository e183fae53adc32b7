/** Certificate and key of a server, from a folder. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecureContext, Server } from 'node:tls'
import type { Logger } from 'pino'
import { errorText } from '#shared/core/error-text.ts'
import { formatInstant } from '#shared/core/time.ts'
import { lifeOf } from '#shared/node/pki/certificate.ts'
import { TLS_MINIMUM } from '#shared/node/pki/tls-minimum.ts'
import { type Current, type WatchedFiles, watchFiles } from '#shared/node/watched-files.ts'

export type ServerTls = { cert: string; key: string }
const tlsFiles = (folder: string): [cert: string, key: string] => [join(folder, 'cert.pem'), join(folder, 'key.pem')]

/**
 * Reads `cert.pem`, the server's certificate first, and `key.pem`.
 *
 * @throws Error that names the file that is missing or unreadable, and when key and certificate do not belong together
 */
export async function readServerTls(folder: string): Promise<ServerTls> {
  const [certPath, keyPath] = tlsFiles(folder)
  // One after the other, so that of two missing files it is always the certificate that is named.
  const cert = await readPem(certPath)
  const key = await readPem(keyPath)
  const leaf = parse(certPath, () => new X509Certificate(cert))
  if (isUnderPassphrase(key))
    throw new Error(`SERVICE_TLS_DIR: ${keyPath} is under a passphrase: store it without one, with permissions 600`)
  const secret = parse(keyPath, () => createPrivateKey(key))
  if (!leaf.checkPrivateKey(secret)) throw new Error(`SERVICE_TLS_DIR: ${folder}/key.pem is not the key of cert.pem`)
  return { cert, key }
}

/** PKCS #8 and the older form of OpenSSL. */
const isUnderPassphrase = (key: string): boolean => /^-----BEGIN ENCRYPTED PRIVATE KEY|^Proc-Type: 4,ENCRYPTED/m.test(key)

/** As `readServerTls`, read again when a file has changed. @throws Error as `readServerTls` does */
export function watchServerTls(folder: string, log: Logger): Promise<WatchedFiles<ServerTls>> {
  return watchFiles<ServerTls>({
    name: 'certificate of the pages',
    paths: tlsFiles(folder),
    read: async before => {
      const pair = await readServerTls(folder)
      const { from, to } = lifeOf(pair.cert)
      const ended = `SERVICE_TLS_DIR: ${folder}/cert.pem ended at ${formatInstant(to)}`
      if (before && to <= Date.now()) throw new Error(ended)
      if (to <= Date.now()) log.warn(`${ended}: browsers refuse it`)
      if (from > Date.now())
        log.warn(`SERVICE_TLS_DIR: ${folder}/cert.pem begins at ${formatInstant(from)}: is this machine's clock right?`)
      // What TLS itself refuses, such as a key that is too short, must not reach a server that runs.
      if (before) createSecureContext(pair)
      return pair
    },
    log,
  })
}

/** Options of an HTTPS server. */
export const secureOptions = (pair: ServerTls) => ({ ...pair, ...TLS_MINIMUM }) as const

/** Has a server use each new pair from the next connection on. */
export function takeNewTls({ server }: { server: unknown }, tls: Current<ServerTls> | undefined): void {
  tls?.onChange(pair => {
    if (server instanceof Server) server.setSecureContext(secureOptions(pair))
  })
}

const readPem = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch(error => {
    throw new Error(`SERVICE_TLS_DIR: ${errorText(error)}`, { cause: error })
  })

function parse<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new Error(`SERVICE_TLS_DIR: ${path} is unreadable: ${errorText(error)}`, { cause: error })
  }
}

/** What everybody sees of a server's certificate. `not_after` in ms since 1970 UTC; `fingerprint` is SHA-256 in hexadecimal pairs. */
export type PublicCertificate = { not_after: number; fingerprint: string }

/** @throws Error that names the file when it is missing or unreadable */
export async function readPublicCertificate(folder: string): Promise<PublicCertificate> {
  const path = join(folder, 'cert.pem')
  const pem = await readPem(path)
  const { validToDate, fingerprint256 } = parse(path, () => new X509Certificate(pem))
  return { not_after: validToDate.getTime(), fingerprint: fingerprint256 }
}

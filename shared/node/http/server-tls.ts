/** Certificate and key of a server, from a folder. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText } from '#shared/core/error-text.ts'

export type ServerTls = { cert: string; key: string }

/**
 * Reads `cert.pem`, the server's certificate first, and `key.pem`.
 *
 * @throws Error that names the file that is missing or unreadable, and when key and certificate do not belong together
 */
export async function readServerTls(folder: string): Promise<ServerTls> {
  const [cert, key] = await Promise.all(['cert.pem', 'key.pem'].map(name => readPem(join(folder, name))))
  const [leaf, secret] = [
    parse(join(folder, 'cert.pem'), () => new X509Certificate(cert!)),
    parse(join(folder, 'key.pem'), () => createPrivateKey(key!)),
  ]
  if (!leaf.checkPrivateKey(secret)) throw new Error(`SERVICE_TLS_DIR: ${folder}/key.pem is not the key of cert.pem`)
  return { cert: cert!, key: key! }
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

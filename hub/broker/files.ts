/** The broker's and central's files as provisioning lays them out, checked before anything listens or connects. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readEdgeTokensKey } from '#shared/node/auth/edge-token.ts'
import { type Pair, readCrl } from '#shared/node/pki/pki.ts'
import { PKI_FILES } from '#shared/node/pki/pki-files.ts'

/** @throws Error that names the file that cannot be read, or is not what it should be */
export async function readBrokerFiles(dir: string): Promise<Pair & { ca_pem: string; crlPath: string }> {
  const ca_pem = await readCa(dir)
  const crlPath = join(dir, PKI_FILES.crl)
  const crl_pem = await readFile(crlPath, 'utf8')
  await readCrl(crl_pem, ca_pem).catch(error => refuse(crlPath, error))
  return { ...(await readPair(dir, PKI_FILES.broker)), ca_pem, crlPath }
}

/** `tokensKey`: from which the tokens of edges are made; undefined where the folder has none. */
export type CentralFiles = Pair & { dir: string; ca_pem: string; tokensKey: string | undefined }

/** @throws Error that names the file that cannot be read, or is not what it should be */
export async function readCentralFiles(dir: string): Promise<CentralFiles> {
  return { ...(await readPair(dir, PKI_FILES.central)), dir, ca_pem: await readCa(dir), tokensKey: await readEdgeTokensKey(dir) }
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

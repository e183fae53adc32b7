/** The broker's and central's files as provisioning lays them out. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readEdgeTokensKey } from '#shared/node/edge-token.ts'
import type { Pair } from '#shared/node/pki.ts'
import { PKI_FILES } from '#shared/node/pki-files.ts'

/** @throws Error that names the file that cannot be read */
export async function readBrokerFiles(dir: string): Promise<Pair & { ca_pem: string; crlPath: string }> {
  return { ...(await readPair(dir, PKI_FILES.broker)), ca_pem: await readCa(dir), crlPath: join(dir, PKI_FILES.crl) }
}

/** `tokensKey`: from which the tokens of edges are made; undefined where the folder has none. */
export type CentralFiles = Pair & { ca_pem: string; tokensKey: string | undefined }

/** @throws Error that names the file that cannot be read */
export async function readCentralFiles(dir: string): Promise<CentralFiles> {
  return { ...(await readPair(dir, PKI_FILES.central)), ca_pem: await readCa(dir), tokensKey: await readEdgeTokensKey(dir) }
}

const readCa = (dir: string): Promise<string> => readFile(join(dir, PKI_FILES.ca.cert), 'utf8')

async function readPair(dir: string, { cert, key }: { cert: string; key: string }): Promise<Pair> {
  return { cert_pem: await readFile(join(dir, cert), 'utf8'), key_pem: await readFile(join(dir, key), 'utf8') }
}

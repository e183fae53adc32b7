/** Reads an edge kit from a folder or a ZIP and checks it before anything connects. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fromBufferPromise } from 'yauzl'
import { errorText } from '#shared/core/error-text.ts'
import { commonName } from '#shared/core/auth/identity.ts'
import type { EdgeAddress } from '#shared/core/model/model.ts'
import { formatInstant } from '#shared/core/time.ts'
import { isIssuedBy } from './broker-certificate.ts'
import { lifeOf } from './certificate.ts'
import type { Pair } from './pki.ts'

/** `edge.json` of a kit (contract §9). */
export type EdgeJson = EdgeAddress & {
  broker_host: string
  broker_port: number
  hub_url?: string
  topic_base: string
  /** RFC 3339 */
  not_after: string
}
export type Kit = Pair & {
  ca_pem: string
  edge: EdgeJson
  acl: string
  /** Token with which the hub identifies itself to this edge; a kit of an older authority has none. */
  token?: string
  /** Certificate and key of the edge's HTTPS port, where the hub connects to one. */
  connector_cert_pem?: string
  connector_key_pem?: string
}

export const KIT_FILES = {
  ca_pem: 'ca.pem',
  cert_pem: 'edge.cert.pem',
  key_pem: 'edge.key.pem',
  edge: 'edge.json',
  acl: 'mosquitto.acl',
} as const
/** Optional files of a kit. */
export const KIT_EXTRAS = {
  token: 'edge.token',
  connector_cert_pem: 'connector.cert.pem',
  connector_key_pem: 'connector.key.pem',
} as const
const ALL_FILES = { ...KIT_FILES, ...KIT_EXTRAS }
type Texts = Record<keyof typeof KIT_FILES, string> & { [F in keyof typeof KIT_EXTRAS]?: string }
/** Minimum length of a token that cannot be guessed, characters. */
const TOKEN_MIN = 32

/** Maximum size of a file, bytes; the files of a kit are far smaller. */
const FILE_MAX = 256 * 1024

/** A kit that cannot be used. The message lists every reason. */
export class KitError extends Error {
  override name = 'KitError'
}

/** There is nothing where the kit should be. */
export class KitAbsent extends KitError {}

/**
 * Reads a kit and checks that key and certificate belong together, that the certificate is for this edge, was issued by the
 * authority of the kit and is valid now.
 *
 * @param path a folder or a ZIP file
 * @param now ms since 1970 UTC
 * @throws KitError with all reasons
 */
export async function readKit(path: string, now: number): Promise<Kit> {
  const kit = await readKitOfAnyTime(path)
  const complaint = ageComplaint(kit, now)
  if (complaint !== undefined) throw new KitError(`the kit ${path} cannot be used: ${complaint}`)
  return kit
}

/** As `readKit`, but the certificate may have ended, or begin later: the clock of an edge may be wrong, and the broker's decides. */
export async function readKitOfAnyTime(path: string): Promise<Kit> {
  const { edge: json, ...texts } = await readTexts(path)
  const kit = { ...texts, edge: readEdgeJson(path, json) }
  const complaints = checkKit(kit)
  if (complaints.length > 0) throw new KitError(`the kit ${path} cannot be used: ${complaints.join('; ')}`)
  return kit
}

/** @returns that the certificate of a kit is not valid at `now`, in words */
export function ageComplaint({ cert_pem }: Pick<Kit, 'cert_pem'>, now: number): string | undefined {
  const { from, to } = lifeOf(cert_pem)
  if (to <= now) return `the certificate ended at ${formatInstant(to)}`
  return from > now ? `the certificate begins at ${formatInstant(from)}: is this machine's clock right?` : undefined
}

async function readTexts(path: string): Promise<Texts> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new KitAbsent(`the kit ${path} does not exist`)
  const files = found.isDirectory() ? await readFolder(path) : await readZip(path)
  const missing = Object.values(KIT_FILES).filter(name => !files.has(name))
  const Refusal = files.size === 0 ? KitAbsent : KitError
  if (missing.length > 0) throw new Refusal(`the kit ${path} lacks ${missing.join(', ')}`)
  const there = Object.entries(ALL_FILES).filter(([, name]) => files.has(name))
  const texts = Object.fromEntries(there.map(([field, name]) => [field, files.get(name)!])) as Texts
  return texts.token === undefined ? texts : { ...texts, token: texts.token.trim() }
}

async function readFolder(path: string): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  for (const name of Object.values(ALL_FILES)) {
    const text = await readFile(join(path, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw new KitError(`the kit ${path} cannot be read: ${error.message}`)
    })
    if (text !== undefined) files.set(name, text)
  }
  return files
}

async function readZip(path: string): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  try {
    const zip = await fromBufferPromise(await readFile(path))
    for await (const entry of zip.eachEntry()) {
      if (!Object.values<string>(ALL_FILES).includes(entry.fileName) || entry.uncompressedSize > FILE_MAX) continue
      const parts: Buffer[] = []
      for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer)
      files.set(entry.fileName, Buffer.concat(parts).toString())
    }
  } catch (error) {
    throw new KitError(`the kit ${path} is neither a folder nor a ZIP: ${errorText(error)}`)
  }
  return files
}

function readEdgeJson(path: string, text: string): EdgeJson {
  try {
    const edge = JSON.parse(text) as EdgeJson
    const texts = [edge.site_id, edge.edge_id, edge.broker_host, edge.topic_base, edge.not_after]
    if (texts.every(value => typeof value === 'string' && value !== '') && Number.isInteger(edge.broker_port)) return edge
  } catch {
    throw new KitError(`the kit ${path} cannot be used: edge.json is not JSON`)
  }
  throw new KitError(`the kit ${path} cannot be used: edge.json lacks site_id, edge_id, broker_host, broker_port or topic_base`)
}

/** @returns the reasons why a kit cannot be used, whatever the time; empty when it can */
export function checkKit({ ca_pem, cert_pem, key_pem, edge, token, ...connector }: Omit<Kit, 'acl'>): string[] {
  try {
    const certificate = new X509Certificate(cert_pem)
    const cn = commonName({ kind: 'edge', ...edge })
    return [
      !certificate.checkPrivateKey(createPrivateKey(key_pem)) && 'edge.key.pem is not the key of edge.cert.pem',
      !isIssuedBy(certificate, ca_pem) && 'edge.cert.pem was not issued by the authority in ca.pem',
      certificate.subject !== `CN=${cn}` && `edge.cert.pem is for ${certificate.subject}, not for ${cn}`,
      token !== undefined && token.length < TOKEN_MIN && `edge.token has fewer than ${TOKEN_MIN} characters`,
      ...checkConnector(connector),
    ].filter(complaint => complaint !== false)
  } catch (error) {
    return [`certificate or key cannot be read: ${errorText(error)}`]
  }
}

function checkConnector({ connector_cert_pem: cert, connector_key_pem: key }: Partial<Kit>): (string | false)[] {
  if (cert === undefined && key === undefined) return []
  if (cert === undefined || key === undefined) return ['connector.cert.pem and connector.key.pem come together']
  const isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  return [!isPair && 'connector.key.pem is not the key of connector.cert.pem']
}

/** The token with which a hub shows an edge who asks (contract §7). Each edge has its own, which no other edge accepts. */
import { createHmac, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commonName } from '#shared/core/auth/identity.ts'
import type { EdgeAddress } from '#shared/core/model/model.ts'
import { replaceFile, unlessMissing } from '#shared/node/files.ts'

/** In the authority's folder; central has a copy beside its certificate. */
export const EDGE_TOKENS_FILE = 'edge-tokens.key'
const KEY = /^[0-9a-f]{64}$/

/** @returns 43 characters, the same for the same key and edge */
export function edgeToken(key: string, { tenant_id, site_id, edge_id }: EdgeAddress): string {
  const text = `plenum edge token 1 ${commonName({ kind: 'edge', tenant_id, site_id, edge_id })}`
  return createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('base64url')
}

/**
 * The secret from which the tokens of all edges are made.
 *
 * @returns undefined when the folder has none
 * @throws Error when the file cannot be read or holds something else
 */
export async function readEdgeTokensKey(dir: string): Promise<string | undefined> {
  const path = join(dir, EDGE_TOKENS_FILE)
  const text = await unlessMissing(readFile(path, 'utf8'))
  if (text === undefined) return undefined
  if (!KEY.test(text.trim())) throw new Error(`${path} is no key: it takes 64 hexadecimal digits`)
  return text.trim()
}

/** Makes the secret of a folder that has none. */
export async function haveEdgeTokensKey(dir: string): Promise<string> {
  const known = await readEdgeTokensKey(dir)
  if (known !== undefined) return known
  const key = randomBytes(32).toString('hex')
  await replaceFile(join(dir, EDGE_TOKENS_FILE), `${key}\n`, 0o600)
  return key
}

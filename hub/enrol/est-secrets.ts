/** Secrets with which a device enrols once by EST. They are stored as hashes, beside the list of issued certificates. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type EdgeAddress, edgeName } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import { DAY } from '#shared/core/time.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { replaceFile } from '#shared/node/files.ts'

type Stored = EdgeAddress & { sha256: string; expires_at: number }
export type EstSecret = { username: string; password: string; expires_at: number }
/** A secret that nobody has used yet; `expires_at` in ms since 1970 UTC. */
export type OpenSecret = EdgeAddress & { username: string; expires_at: number }
export type EstSecrets = {
  /** Makes the secret of an edge; an earlier one is void. @throws Problem no_authority, too_many_boxes */
  make(edge: EdgeAddress): Promise<EstSecret>
  /** Those of a tenant, or of the hub itself, that nobody has used: the one that expires first comes first. */
  list(tenant_id: string | undefined): Promise<OpenSecret[]>
  /** Makes the secret of an edge void. @throws Problem unknown_edge when none waits to be used */
  withdraw(edge: EdgeAddress): Promise<OpenSecret>
  /**
   * Carries out `enrol` with the edge of a secret, which is void afterwards unless `enrol` fails.
   *
   * @returns undefined for a wrong or used one
   */
  use<T>(username: string, password: string, enrol: (edge: EdgeAddress) => Promise<T>): Promise<T | undefined>
}

const VALID_MS = 7 * DAY
/** Secrets that wait to be used; more are made when some have been. */
const SECRETS_MAX = 500
const FILE = 'est-secrets.json'

const hashOf = (password: string): string => createHash('sha256').update(password).digest('hex')
const isSecret = (stored: Stored, password: string): boolean =>
  timingSafeEqual(Buffer.from(stored.sha256, 'hex'), Buffer.from(hashOf(password), 'hex'))

/** The user name of a device: tenants may have the same site and edge ids. */
const nameOf = ({ tenant_id, ...edge }: EdgeAddress): string =>
  tenant_id === undefined ? edgeName(edge) : `${tenant_id}/${edgeName(edge)}`
const addressOf = ({ tenant_id, site_id, edge_id }: EdgeAddress): EdgeAddress => ({
  ...(tenant_id !== undefined && { tenant_id }),
  site_id,
  edge_id,
})
const shown = (stored: Stored): OpenSecret => ({
  ...addressOf(stored),
  username: nameOf(stored),
  expires_at: stored.expires_at,
})

/** @param dir folder of the authority; undefined on a hub that has none */
export function createEstSecrets(dir: string | undefined, now: () => number): EstSecrets {
  const inTurn = createSerialQueue()
  const read = async (): Promise<Stored[]> => {
    const text = await readFile(join(dir!, FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '[]'
      throw error
    })
    return (JSON.parse(text) as Stored[]).filter(({ expires_at }) => expires_at > now())
  }
  const write = (secrets: Stored[]) => replaceFile(join(dir!, FILE), `${JSON.stringify(secrets)}\n`, 0o600)
  return {
    list: async tenant_id => {
      const open = dir === undefined ? [] : await read()
      return open
        .filter(one => one.tenant_id === tenant_id)
        .map(shown)
        .toSorted((a, b) => a.expires_at - b.expires_at)
    },
    withdraw: edge =>
      inTurn(async () => {
        const secrets = dir === undefined ? [] : await read()
        const found = secrets.find(one => nameOf(one) === nameOf(edge))
        if (!found) throw new Problem('unknown_edge', `No secret of ${nameOf(edge)} waits to be used`)
        await write(secrets.filter(one => one !== found))
        return shown(found)
      }),
    make: edge =>
      inTurn(async () => {
        if (dir === undefined) throw new Problem('no_authority', 'This hub issues no certificates')
        const username = nameOf(edge)
        const others = (await read()).filter(one => nameOf(one) !== username)
        if (others.length >= SECRETS_MAX) throw new Problem('too_many_boxes', `${others.length} secrets wait to be used`)
        const [password, expires_at] = [randomBytes(24).toString('base64url'), now() + VALID_MS]
        await write([...others, { ...addressOf(edge), sha256: hashOf(password), expires_at }])
        return { username, password, expires_at }
      }),
    use: (username, password, enrol) =>
      inTurn(async () => {
        if (dir === undefined) return undefined
        const secrets = await read()
        const found = secrets.find(one => nameOf(one) === username)
        if (!found || !isSecret(found, password)) return undefined
        const result = await enrol(addressOf(found))
        await write(secrets.filter(one => one !== found))
        return result
      }),
  }
}

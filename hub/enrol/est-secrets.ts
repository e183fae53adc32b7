/** Secrets with which a device enrols once by EST. They are stored as hashes, beside the list of issued certificates. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { edgeName, type EdgeKey } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import { DAY } from '#shared/core/time.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { replaceFile } from '#shared/node/files.ts'

type Stored = EdgeKey & { sha256: string; expires_at: number }
type EstSecret = { username: string; password: string; expires_at: number }
export type EstSecrets = {
  /** Makes the secret of an edge; an earlier one is void. @throws Problem no_authority, too_many_boxes */
  make(edge: EdgeKey): Promise<EstSecret>
  /**
   * Carries out `enrol` with the edge of a secret, which is void afterwards unless `enrol` fails.
   *
   * @returns undefined for a wrong or used one
   */
  use<T>(username: string, password: string, enrol: (edge: EdgeKey) => Promise<T>): Promise<T | undefined>
}

const VALID_MS = 7 * DAY
/** Secrets that wait to be used; more are made when some have been. */
const SECRETS_MAX = 500
const FILE = 'est-secrets.json'

const hashOf = (password: string): string => createHash('sha256').update(password).digest('hex')
const isSecret = (stored: Stored, password: string): boolean =>
  timingSafeEqual(Buffer.from(stored.sha256, 'hex'), Buffer.from(hashOf(password), 'hex'))

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
    make: ({ site_id, edge_id }) =>
      inTurn(async () => {
        if (dir === undefined) throw new Problem('no_authority', 'This hub issues no certificates')
        const username = edgeName({ site_id, edge_id })
        const others = (await read()).filter(one => edgeName(one) !== username)
        if (others.length >= SECRETS_MAX) throw new Problem('too_many_boxes', `${others.length} secrets wait to be used`)
        const [password, expires_at] = [randomBytes(24).toString('base64url'), now() + VALID_MS]
        await write([...others, { site_id, edge_id, sha256: hashOf(password), expires_at }])
        return { username, password, expires_at }
      }),
    use: (username, password, enrol) =>
      inTurn(async () => {
        if (dir === undefined) return undefined
        const secrets = await read()
        const found = secrets.find(one => edgeName(one) === username)
        if (!found || !isSecret(found, password)) return undefined
        const { site_id, edge_id } = found
        const result = await enrol({ site_id, edge_id })
        await write(secrets.filter(one => one !== found))
        return result
      }),
  }
}

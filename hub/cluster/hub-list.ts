/** What each active hub of a cluster tells the others about itself, so that its page can show all of them. */
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import { SECOND } from '#shared/core/time.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import type { Service } from '#shared/node/service.ts'

/** How often a hub tells the others, and asks about them. */
const EVERY_MS = 15 * SECOND
/** A hub that has told nothing for so long is not active, or cannot reach PostgreSQL. */
export const HUB_SILENT_MS = 60 * SECOND

/** Of the edges and the open faults of a hub. */
export type HubSummary = { edges: number; not_operational: number; faults: number }

export type OtherHub = HubSummary & {
  /** Undefined for a hub of all sites. */
  site_id: string | undefined
  /** Where its pages are; undefined when it has not been told. */
  address: string | undefined
  /** Machine and process. */
  holder: string
  /** When it last told the others, ms of this machine's clock. */
  told_at: number
}

/** `others`: as they were last asked about, by site. */
export type HubList = { service: Service; others(): OtherHub[] }

type HubListOptions = {
  pool: Pool
  own: Pick<OtherHub, 'site_id' | 'address' | 'holder'>
  /** Called each time that the others are told. */
  summary: () => HubSummary
  /** ms since 1970 UTC */
  now: () => number
  log: Logger
}

// In the schema that all hubs see; their other tables are each in one of their own.
const TABLE = `CREATE TABLE IF NOT EXISTS public.plenum_hubs (
  site_id text PRIMARY KEY, address text, holder text NOT NULL, edges integer NOT NULL, not_operational integer NOT NULL,
  faults integer NOT NULL, told_at timestamptz NOT NULL)`
const TELL = `INSERT INTO public.plenum_hubs VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp())
  ON CONFLICT (site_id) DO UPDATE SET address = excluded.address, holder = excluded.holder, edges = excluded.edges,
  not_operational = excluded.not_operational, faults = excluded.faults, told_at = excluded.told_at`
const ASK = `SELECT site_id, address, holder, edges, not_operational, faults,
  (extract(epoch FROM clock_timestamp() - told_at) * 1000)::float8 AS age_ms
  FROM public.plenum_hubs WHERE site_id <> $1 ORDER BY site_id`
const ALL_SITES = '*'

type Row = HubSummary & { site_id: string; address: string | null; holder: string; age_ms: number }

export function hubList({ pool, own, summary, now, log }: HubListOptions): HubList {
  const site = own.site_id ?? ALL_SITES
  const failures = failureLog(log, 'the other hubs are not told about this one', 'the other hubs are told about this one again')
  let others: OtherHub[] = []
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const tellAndAsk = async () => {
    const { edges, not_operational, faults } = summary()
    await pool.query(TELL, [site, own.address ?? null, own.holder, edges, not_operational, faults])
    const { rows } = await pool.query<Row>(ASK, [site])
    others = rows.map(({ age_ms, site_id, address, ...row }) => ({
      ...row,
      site_id: site_id === ALL_SITES ? undefined : site_id,
      address: address ?? undefined,
      told_at: now() - age_ms,
    }))
  }
  const turn = async () => {
    await pool
      .query(TABLE)
      .then(tellAndAsk)
      .then(failures.worked, error => failures.failed(error))
    if (!isStopped) timer = setTimeout(() => void turn(), EVERY_MS)
  }
  return {
    service: {
      name: 'list of hubs',
      start: async () => void turn(),
      async stop() {
        isStopped = true
        clearTimeout(timer)
      },
    },
    others: () => others,
  }
}

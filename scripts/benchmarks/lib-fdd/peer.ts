/** The same rules as SQL in DuckDB, over the same Parquet files. */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { CompiledRule } from '#shared/core/rules/compile/compile-rule.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { MINUTE } from '#shared/core/time.ts'
import { type Translation, translate, type Watch } from './rule-sql.ts'

/** `[from, to)` of a stretch of faulty minutes, ms. */
type Stretch = { from: number; to: number }
/** By rule, with its role when it runs over every role. */
export type Found = Map<string, Stretch[]>

type Peer = {
  /** Reads the files again, finds every rule's faults, retains nothing. */
  run(files: string[]): Promise<Found>
  close(): void
}

/** @param pointOf role → point id */
export async function openPeer(instances: CompiledRule[], pointOf: Record<string, string>): Promise<Peer> {
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '8GB', autoload_known_extensions: 'false' })
  const connection = await instance.connect()
  const roles = Object.keys(pointOf)
  const translation = translate(instances, roles)
  return {
    run: async files => {
      await connection.run(`CREATE OR REPLACE TEMP TABLE wide AS ${wide(files, pointOf)}`)
      await connection.run(`CREATE OR REPLACE TEMP TABLE faults AS ${faults(translation)}`)
      const found: Found = new Map()
      for (const [i, watch] of translation.watches.entries()) found.set(keyOf(watch), await stretches(connection, i, watch))
      await connection.run('DROP TABLE faults; DROP TABLE wide')
      return found
    },
    close: () => {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

export const keyOf = ({ rule_id, role }: { rule_id: string; role?: string }): string => (role ? `${rule_id} ${role}` : rule_id)

/** One row a minute; beside each role what the device said, also where it cannot be. */
function wide(files: string[], pointOf: Record<string, string>): string {
  const columns = Object.entries(pointOf).map(
    ([role, point_id]) => `max(value) FILTER (WHERE point_id = '${point_id}') AS raw_${role}`,
  )
  const plausible = Object.keys(pointOf).map(role => {
    const { range, stops } = ROLES[role]!
    const read = stops ? `greatest(${stops[0]}, least(${stops[1]}, raw_${role}))` : `raw_${role}`
    return `CASE WHEN raw_${role} BETWEEN ${range[0]} AND ${range[1]} THEN ${read} END AS ${role}`
  })
  const list = files.map(file => `'${file.replaceAll("'", "''")}'`).join(', ')
  return `SELECT *, ${plausible.join(', ')} FROM (
    SELECT epoch_ms(ts) AS ts, ${columns.join(', ')} FROM read_parquet([${list}]) GROUP BY ts) ORDER BY ts`
}

function faults({ layers, watches }: Translation): string {
  const steps = layers.map((columns, layer) => {
    const made = [...columns].map(([text, name]) => `${text} AS ${name}`)
    return `l${layer + 1} AS (SELECT *, ${made.join(', ')} FROM ${layer === 0 ? 'wide' : `l${layer}`})`
  })
  const chosen = watches.map(({ fault }, i) => `(${fault}) AS f${i}`)
  const last = layers.length === 0 ? 'wide' : `l${layers.length}`
  return `${steps.length ? `WITH ${steps.join(', ')} ` : ''}SELECT ts, ${chosen.join(', ')} FROM ${last}`
}

/** Stretches of faulty minutes that last. */
async function stretches(connection: DuckDBConnection, i: number, { minutes }: Watch): Promise<Stretch[]> {
  const answer = await connection.runAndReadAll(
    `SELECT min(ts)::DOUBLE, (max(ts) + ${MINUTE})::DOUBLE
     FROM (SELECT ts, ts - ${MINUTE} * row_number() OVER (ORDER BY ts) AS run FROM faults WHERE f${i})
     GROUP BY run HAVING count(*) >= ${minutes} ORDER BY 1`,
  )
  return (answer.getRows() as [number, number][]).map(([from, to]) => ({ from, to }))
}

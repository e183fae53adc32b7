/** The same figures by plain SQL in DuckDB, over the same Parquet files. */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Point } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { DAY } from '#shared/core/time.ts'
import { conversion } from '#shared/core/model/unit.ts'

export type Peer = { rows(sql: string): Promise<Record<string, unknown>[]>; close(): void }

/** A signal of a walk: its name in SQL, and the point behind it. */
type Signal = { name: string; point: Pick<Point, 'point_id' | 'unit' | 'role' | 'poll_secs'> }

export async function openSql(files: string[]): Promise<Peer> {
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '1GB', threads: '1' })
  const connection: DuckDBConnection = await instance.connect()
  const list = files.map(file => `'${file}'`).join(', ')
  await connection.run(`CREATE TABLE samples AS SELECT point_id, epoch_ms(ts)::BIGINT AS t, value FROM read_parquet([${list}])`)
  return {
    rows: async sql => (await connection.runAndReadAll(sql)).getRowObjectsJS() as Record<string, unknown>[],
    close: () => {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

/**
 * Makes the table `held(signal, t0, t1, v)`: what is known of each signal from when to when, within `[from, to)`.
 *
 * A sample holds until the next one and for three usual intervals at most; the usual one is what the point is polled at,
 * else the median of the gaps in the last week that is held.
 */
export async function makeHeld(sql: Peer, signals: Signal[], from: number, to: number): Promise<void> {
  const rows = signals.map(({ name, point: { point_id, unit, role, poll_secs } }) => {
    const way = role === undefined ? { scale: 1, offset: 0 } : conversion(unit, ROLES[role]!.unit)!
    const [low, high] = role === undefined ? [-1e300, 1e300] : ROLES[role]!.range
    const [shut, open] = (role === undefined ? undefined : ROLES[role]!.stops) ?? [-1e300, 1e300]
    return `('${name}', '${point_id}', ${way.scale}::DOUBLE, ${way.offset}::DOUBLE, ${low}::DOUBLE, ${high}::DOUBLE, ${shut}::DOUBLE, ${open}::DOUBLE, ${poll_secs ?? 'NULL'}::DOUBLE)`
  })
  await sql.rows(`CREATE OR REPLACE TABLE signals AS
    SELECT * FROM (VALUES ${rows.join(', ')}) AS s(signal, point_id, scale, off, low, high, shut, open, poll_secs)`)
  await sql.rows(`CREATE OR REPLACE TABLE held AS
    WITH unstated AS (SELECT DISTINCT point_id FROM signals WHERE poll_secs IS NULL),
    until AS (SELECT least(${to}, max(t) + 1) AS t FROM samples JOIN signals USING (point_id)),
    gaps AS (
      SELECT point_id, t - lag(t) OVER (PARTITION BY point_id ORDER BY t) AS gap
      FROM samples JOIN unstated USING (point_id)
      WHERE t >= (SELECT t FROM until) - ${7 * DAY} AND t < (SELECT t FROM until)),
    usual AS (
      SELECT point_id, list_sort(list(gap) FILTER (gap IS NOT NULL)) AS sorted FROM gaps GROUP BY point_id),
    stretches AS (
      SELECT point_id, t, value, lead(t) OVER (PARTITION BY point_id ORDER BY t) AS next FROM samples)
    SELECT signal, greatest(t, ${from}) AS t0,
      least(coalesce(next, ${to}), t + 3 * coalesce(poll_secs * 1000, sorted[len(sorted) // 2 + 1]), ${to})::BIGINT AS t1,
      greatest(shut, least(open, value * scale + off)) AS v
    FROM stretches JOIN signals USING (point_id) LEFT JOIN usual USING (point_id)
    WHERE value * scale + off BETWEEN low AND high AND t < ${to}`)
  await sql.rows('DELETE FROM held WHERE t1 <= t0')
}

/** `[a, b)` × stretches of `held`: what of a stretch lies in each, ms. */
export const overlap = (a: string, b: string): string => `(least(t1, ${b}) - greatest(t0, ${a}))`

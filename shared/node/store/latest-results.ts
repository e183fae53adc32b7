import { type RuleResult, isEvaluated } from '#shared/core/findings/finding.ts'
import type { LatestResult, ResultReader, RunRecord, Standing } from '#shared/core/ports.ts'
import { countResults } from '#shared/core/runs/run-summary.ts'
import type { Database } from '../sqlite.ts'

/** Results that are in memory as text at once, some 300 bytes each: a large building has 100,000. */
const AT_ONCE = 2_000
/** Results that are read at once while somebody looks for some of them. */
const PIECE = 500

/** The latest result of each rule and equipment. `resultStores` owns the transaction. */
export function openLatestResults(db: Database) {
  const put = db.prepare(
    `INSERT INTO latest_results
     SELECT @building_id, value ->> 'equipment_id', value ->> 'rule_id', value FROM json_each(@results) WHERE true
     ON CONFLICT (building_id, equipment_id, rule_id) DO UPDATE SET body = json_patch(excluded.body, json_object(
       'evaluated_to', coalesce(excluded.body ->> 'evaluated_to', latest_results.body ->> 'evaluated_to'),
       'evaluated_as', coalesce(excluded.body ->> 'evaluated_as', latest_results.body ->> 'evaluated_as')))
     WHERE @whole OR latest_results.body ->> 'looked_to' <= @looked_to OR latest_results.body ->> 'looked_to' > @started_at`,
  )
  const one = db.prepare('SELECT body FROM latest_results WHERE building_id = ? AND equipment_id = ? AND rule_id = ?').pluck()
  const ofEquipment = db
    .prepare('SELECT body FROM latest_results WHERE building_id = ? AND equipment_id = ? ORDER BY rule_id')
    .pluck()
  const piece = db
    .prepare(
      `SELECT body FROM latest_results WHERE building_id = ? AND (equipment_id, rule_id) > (?, ?)
       ORDER BY equipment_id, rule_id LIMIT ${PIECE}`,
    )
    .pluck()
  const each = function* (building_id: string, after = { equipment_id: '', rule_id: '' }): Generator<LatestResult> {
    for (let last = after; ; ) {
      const bodies = piece.all(building_id, last.equipment_id, last.rule_id)
      const found = bodies.map(toLatest)
      yield* found
      if (found.length < PIECE) return
      last = found.at(-1)!
    }
  }
  const standings = openStandings(db)
  return {
    /** @param whole whether the run evaluated all rules and equipment: its results then replace later ones as well */
    put: ({ run_id, building_id, started_at, finished_at, to: looked_to, results }: RunRecord, whole: boolean) => {
      standings.forget(building_id)
      const told = (result: RuleResult) => {
        const evaluated = result.status === 'not_evaluated' ? {} : { evaluated_to: looked_to }
        const as = whole && isEvaluated(result) && result.version !== undefined ? { evaluated_as: result.version } : {}
        return { ...result, run_id, finished_at, looked_to, ...evaluated, ...as }
      }
      for (let first = 0; first < results.length; first += AT_ONCE) {
        const some = JSON.stringify(results.slice(first, first + AT_ONCE).map(told))
        put.run({ building_id, results: some, looked_to, started_at, whole: Number(whole) })
      }
    },
    reader: {
      latestOf(building_id, equipment_id, rule_id) {
        const body = one.get(building_id, equipment_id, rule_id)
        return body === undefined ? undefined : toLatest(body)
      },
      latest: (building_id, equipment_id) => ofEquipment.all(building_id, equipment_id).map(toLatest),
      each,
      standing: standings.of,
    } satisfies Partial<ResultReader>,
  }
}

const toLatest = (body: unknown) => JSON.parse(String(body)) as LatestResult

/** What all results of a building say together, which takes as long to find as they are many: kept until another run has stored its own. */
function openStandings(db: Database) {
  const groups = db.prepare(
    `SELECT body ->> 'status' AS status, body ->> 'reason' AS reason, count(*) AS n, max(body ->> 'looked_to') AS looked_to
     FROM latest_results WHERE building_id = ? GROUP BY 1, 2`,
  )
  const remarkable = db
    .prepare(
      `SELECT body FROM latest_results WHERE building_id = ?
         AND coalesce(body -> 'unconfirmed', body -> 'sampling', body -> 'untrusted_secs') IS NOT NULL
       ORDER BY equipment_id, rule_id`,
    )
    .pluck()
  const dataVersion = db.prepare('PRAGMA data_version').pluck()
  const kept = new Map<string, Standing>()
  // Another process may move a building.
  let version: unknown
  return {
    forget: (building_id: string) => void kept.delete(building_id),
    of(building_id: string): Standing {
      const now = dataVersion.get()
      if (now !== version) kept.clear()
      version = now
      const known = kept.get(building_id)
      if (known) return known
      const found = groups.all(building_id) as Group[]
      const standing: Standing = {
        ...countResults(found.map(({ reason, ...group }) => ({ ...group, ...(reason !== null && { reason }) }))),
        checks: found.reduce((sum, { n }) => sum + n, 0),
        looked_to: found.reduce<number | undefined>((most, { looked_to }) => Math.max(most ?? -Infinity, looked_to), undefined),
        remarkable: remarkable.all(building_id).map(toLatest),
      }
      if (!db.inTransaction) kept.set(building_id, standing)
      return standing
    },
  }
}
type Group = Pick<RuleResult, 'status'> & { reason: NonNullable<RuleResult['reason']> | null; n: number; looked_to: number }

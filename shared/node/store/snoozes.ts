import type { Snooze } from '#shared/core/findings/snooze.ts'
import type { SnoozeStore } from '#shared/core/ports.ts'
import type { Database } from '../sqlite.ts'
import { toRecord, toRow, upsert } from './row.ts'

const COLUMNS = [
  'snooze_id',
  'building_id',
  'equipment_id',
  'rule_id',
  'role',
  'finding_id',
  'until',
  'reason',
  'created_by',
  'created_at',
  'ended_at',
] as const satisfies (keyof Snooze)[]

const IN_FORCE = 'ended_at IS NULL AND until > @now'
/** @param finding what stands before the names of the finding's fields in the statement */
const covers = (finding: string): string =>
  (['equipment_id', 'rule_id', 'role', 'finding_id'] as const)
    .map(column => `(snoozes.${column} IS NULL OR snoozes.${column} = ${finding}${column})`)
    .join(' AND ')
// The snoozes come first: there are few, and the findings are found by their building.
const untilSql = (where: string): string =>
  `SELECT active_findings.finding_id, max(until) FROM snoozes CROSS JOIN active_findings USING (building_id)
   WHERE ${IN_FORCE} AND ${covers('active_findings.')} ${where} GROUP BY active_findings.finding_id`

export function snoozeStore(db: Database): SnoozeStore {
  const list = db.prepare(`SELECT * FROM snoozes WHERE ${IN_FORCE} ORDER BY until, snooze_id LIMIT @limit`)
  const get = db.prepare('SELECT * FROM snoozes WHERE snooze_id = ?')
  const covering = db.prepare(
    `SELECT * FROM snoozes WHERE building_id = @building_id AND ${IN_FORCE} AND ${covers('@')}
     ORDER BY until DESC, snooze_id LIMIT 1`,
  )
  // Most buildings have none, and this takes a tenth of the time: a page of faults asks for each.
  const some = db.prepare('SELECT 1 FROM snoozes WHERE building_id = ? AND ended_at IS NULL AND until > ? LIMIT 1')
  const untilOfAll = db.prepare(untilSql('')).raw()
  const untilOf = db.prepare(untilSql('AND building_id = @building_id')).raw()
  const put = db.prepare(upsert('snoozes', ['snooze_id'], COLUMNS))
  const forget = db.prepare('DELETE FROM snoozes WHERE until <= ?')
  const oneOf = (row: unknown) => (row === undefined ? undefined : toRecord<Snooze>(row))
  return {
    list: (now, limit) => list.all({ now, limit }).map(row => toRecord<Snooze>(row)),
    get: snooze_id => oneOf(get.get(snooze_id)),
    covering: ({ building_id, equipment_id, rule_id, role = undefined, finding_id }, now) =>
      some.get(building_id, now) === undefined
        ? undefined
        : oneOf(covering.get({ building_id, equipment_id, rule_id, role: role ?? null, finding_id, now })),
    snoozedUntil: (now, building_id) =>
      new Map((building_id === undefined ? untilOfAll.all({ now }) : untilOf.all({ now, building_id })) as [string, number][]),
    put: db.transaction((snooze: Snooze, now: number) => {
      put.run(toRow(snooze, COLUMNS))
      forget.run(now)
    }),
  }
}

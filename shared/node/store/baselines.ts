import type { BaselineKey, BaselineReport, BaselineStore, StoredBaseline, StoredReset } from '#shared/core/tuning.ts'
import type { Database } from '../sqlite.ts'
import { toRow, upsert } from './row.ts'

const KEY = ['building_id', 'equipment_id', 'rule_id', 'role', 'name'] as const
const RESET_COLUMNS = [...KEY, 'at', 'note', 'changed_by', 'changed_at'] as const

export function baselineStore(db: Database): BaselineStore {
  const order = 'ORDER BY equipment_id, rule_id, role, name'
  const where = KEY.map(name => `${name} = @${name}`).join(' AND ')
  const list = db
    .prepare(
      `SELECT body FROM baselines WHERE building_id = @building_id
         AND (@equipment_id IS NULL OR equipment_id = @equipment_id) AND (@rule_id IS NULL OR rule_id = @rule_id) ${order}`,
    )
    .pluck()
  const find = db.prepare(`SELECT body FROM baselines WHERE ${where}`).pluck()
  const kept = db.prepare(
    `SELECT role, name, json_extract(body, '$.date') AS date FROM baselines WHERE building_id = ? AND equipment_id = ? AND rule_id = ?`,
  )
  const forget = db.prepare(`DELETE FROM baselines WHERE ${where}`)
  // Hourly runs report the same baselines all day: unchanged rows are not written.
  const put = db.prepare(`${upsert('baselines', KEY, [...KEY, 'body'])} WHERE baselines.body <> excluded.body`)
  const resets = db.prepare(`SELECT * FROM baseline_resets WHERE building_id = ? ${order}`)
  const reset = db.prepare(upsert('baseline_resets', KEY, RESET_COLUMNS))
  const restore = db.prepare(`DELETE FROM baseline_resets WHERE ${where}`)

  const keep = ({ building_id, date, today, looked, baselines }: BaselineReport) => {
    const said = Map.groupBy(baselines, pairOf)
    for (const pair of looked) {
      const rows = kept.all(building_id, pair.equipment_id, pair.rule_id) as { role: string; name: string; date: string }[]
      // A run over an earlier span must not replace the baseline of a later one.
      if (rows.some(row => row.date > date && row.date <= today)) continue
      const own = said.get(pairOf(pair)) ?? []
      for (const { role, name } of rows) {
        const isSaid = own.some(one => (one.role ?? '') === role && one.name === name)
        if (!isSaid) forget.run(keyOf({ building_id, ...pair, role, name }))
      }
      for (const baseline of own) {
        const stored: StoredBaseline = { building_id, date, ...baseline }
        put.run({ ...keyOf(stored), body: JSON.stringify(stored) })
      }
    }
  }
  return {
    list: ({ building_id, equipment_id = null, rule_id = null }) =>
      list.all({ building_id, equipment_id, rule_id }).map(toBaseline),
    get: key => {
      const body = find.get(keyOf(key))
      return body === undefined ? undefined : toBaseline(body)
    },
    keep: db.transaction(keep),
    resets: building_id => resets.all(building_id).map(toReset),
    reset: one => void reset.run({ ...toRow(one, RESET_COLUMNS), ...keyOf(one) }),
    restore: key => void restore.run(keyOf(key)),
  }
}

const keyOf = (key: BaselineKey) => toRow({ ...key, role: key.role ?? '' }, KEY)
const pairOf = ({ equipment_id, rule_id }: { equipment_id: string; rule_id: string }): string => `${equipment_id}\n${rule_id}`
const toBaseline = (body: unknown): StoredBaseline => JSON.parse(String(body))

function toReset(row: unknown): StoredReset {
  const { role, ...reset } = row as StoredReset & { role: string }
  return role === '' ? reset : { ...reset, role }
}

import type { HistoryChanges } from '#shared/core/ports.ts'
import type { Database } from '../sqlite.ts'
import { openKeys } from './keys.ts'

/**
 * Returns a function that records that samples of a building from `t` on have changed. It runs inside the transaction that
 * changes them, so that both or neither survive a crash.
 */
export function openChangeMarks(db: Database): (building: number, t: number) => void {
  const mark = db.prepare(
    `INSERT INTO history_changes (building, changed_from) VALUES (?, ?)
     ON CONFLICT (building) DO UPDATE SET changed_from = excluded.changed_from
     WHERE changed_from IS NULL OR changed_from > excluded.changed_from`,
  )
  return (building, t) => void mark.run(building, t)
}

/** The changes that rule runs take and settle. */
export function openHistoryChanges(db: Database): HistoryChanges {
  const { findBuilding } = openKeys(db)
  const take = db
    .prepare(
      `UPDATE history_changes SET open_from = min(open_from, coalesce(changed_from, open_from)), changed_from = NULL
       WHERE building = ? RETURNING open_from`,
    )
    .pluck()
  const settle = db.prepare(
    'INSERT INTO history_changes (building, open_from) VALUES (?, ?) ON CONFLICT (building) DO UPDATE SET open_from = excluded.open_from',
  )
  return {
    take: building_id => (take.get(findBuilding(building_id) ?? null) as number | null | undefined) ?? undefined,
    settle: (building_id, through) => {
      const building = findBuilding(building_id)
      if (building !== undefined) settle.run(building, through)
    },
  }
}

import type { FindingNote } from '#shared/core/findings/finding.ts'
import { type Silence, snoozeScope } from '#shared/core/findings/snooze.ts'
import type { Notes } from '#shared/core/ports.ts'
import type { Database } from '../sqlite.ts'
import { snoozeStore } from './snoozes.ts'

const notAFaultSql = (where: string): string =>
  `SELECT finding_id, notes.body ->> '$.not_a_fault' FROM active_findings CROSS JOIN notes USING (finding_id)
   WHERE notes.body ->> '$.not_a_fault' IS NOT NULL ${where}`

export function noteStore(db: Database): Notes {
  const snoozes = snoozeStore(db)
  const select = db.prepare('SELECT body FROM notes WHERE finding_id = ?').pluck()
  const set = db.prepare('INSERT INTO notes VALUES (?, ?) ON CONFLICT (finding_id) DO UPDATE SET body = excluded.body')
  const notAFaultOfAll = db.prepare(notAFaultSql('')).raw()
  const notAFaultOf = db.prepare(notAFaultSql('AND building_id = ?')).raw()
  const get = (finding_id: string): FindingNote => {
    const body = select.get(finding_id)
    return body === undefined ? { finding_id, ack: 'unacked' } : readNote(String(body))
  }
  return {
    get,
    of: (finding, now) => {
      const note = get(finding.finding_id)
      const snooze = snoozes.covering(finding, now)
      if (!snooze) return note
      const { until, reason, created_by, snooze_id } = snooze
      return {
        ...note,
        snoozed_until: until,
        ...(reason !== undefined && { snooze_reason: reason }),
        ...(created_by !== undefined && { snoozed_by: created_by }),
        snooze_scope: snoozeScope(snooze),
        snooze_id,
      }
    },
    silences: (now, building_id) => {
      const silences = new Map<string, Silence>()
      for (const [finding_id, snoozed_until] of snoozes.snoozedUntil(now, building_id))
        silences.set(finding_id, { snoozed_until })
      const said = building_id === undefined ? notAFaultOfAll.all() : notAFaultOf.all(building_id)
      for (const [finding_id, not_a_fault] of said as [string, string][]) {
        silences.set(finding_id, { ...silences.get(finding_id), not_a_fault })
      }
      return silences
    },
    set: note => void set.run(note.finding_id, JSON.stringify(note)),
  }
}

/** An earlier version stored the snooze of a finding in its note; it is a record of its own since. */
function readNote(body: string): FindingNote {
  const { snoozed_until: _until, snooze_reason: _reason, ...note } = JSON.parse(body) as FindingNote & Record<string, unknown>
  return note
}

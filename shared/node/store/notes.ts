import type { FindingNote } from '#shared/core/findings/finding.ts'
import type { Notes } from '#shared/core/ports.ts'
import type { Database } from '../sqlite.ts'

export function noteStore(db: Database): Notes {
  const get = db.prepare('SELECT body FROM notes WHERE finding_id = ?').pluck()
  const set = db.prepare('INSERT INTO notes VALUES (?, ?) ON CONFLICT (finding_id) DO UPDATE SET body = excluded.body')
  return {
    get: finding_id => {
      const body = get.get(finding_id)
      return body === undefined ? { finding_id, ack: 'unacked' } : (JSON.parse(String(body)) as FindingNote)
    },
    set: note => void set.run(note.finding_id, JSON.stringify(note)),
  }
}

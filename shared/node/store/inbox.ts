import type { EdgeMessage, Inbox } from '#shared/core/ports.ts'
import { toNumber } from '#shared/core/reading.ts'
import { openHotRows } from '../historian/hot.ts'
import type { Database } from '../sqlite.ts'
import { findingWriter } from './findings.ts'

/** Stores what edges send; a message is stored once, whole, and in the order of its stream. */
export function openInbox(db: Database): Inbox {
  const hot = openHotRows(db)
  const writeFinding = findingWriter(db)
  const mark = db.prepare('SELECT seq FROM marks WHERE edge_id = ? AND stream = ?').pluck()
  const move = db.prepare('INSERT INTO marks VALUES (?, ?, ?) ON CONFLICT (edge_id, stream) DO UPDATE SET seq = excluded.seq')
  const states = db.prepare('SELECT states FROM points WHERE building_id = ? AND point_id = ?').pluck()
  const statesOf = (building_id: string, point_id: string) => {
    const text = states.get(building_id, point_id)
    return typeof text === 'string' ? (JSON.parse(text) as string[]) : undefined
  }

  const store = db.transaction(({ building_id, edge_id, stream, seq, readings, findings }: EdgeMessage) => {
    const samples = readings.map(({ id, t, v, q }) => {
      const texts = typeof v === 'string' ? statesOf(building_id, id) : undefined
      return { id, t, v: toNumber(v, texts), q }
    })
    hot.insert(building_id, samples)
    findings.forEach(writeFinding)
    move.run(edge_id, stream, seq)
  })

  return {
    accept: message => {
      const through = (mark.get(message.edge_id, message.stream) as number | undefined) ?? 0
      if (message.seq <= through) return { status: 'duplicate', through_seq: through }
      if (message.seq > through + 1) return { status: 'gap', through_seq: through }
      hot.prepare(message.building_id, new Set(message.readings.map(({ id }) => id)))
      store(message)
      return { status: 'stored', through_seq: message.seq }
    },
  }
}

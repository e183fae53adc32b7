import type { EdgeMessage, Inbox } from '#shared/core/ports.ts'
import { misdatedRows } from '#shared/core/telemetry/misdated.ts'
import { type Reading, toNumber } from '#shared/core/telemetry/reading.ts'
import type { StorageBudget } from '#shared/core/tenant-budget.ts'
import { openHotRows } from '../historian/hot.ts'
import type { Database } from '../sqlite.ts'
import { findingWriter } from './findings.ts'
import { misdatedStore } from './misdated.ts'

/** @param needRoom throws while the disk is full and readings must wait */
export const withRoom = ({ accept }: Inbox, needRoom: () => void): Inbox => ({
  accept(message) {
    needRoom()
    return accept(message)
  },
})

/**
 * Stores messages of edges: each completely, once, and in the order of its stream.
 *
 * @param budget limits of this workspace; without it there are none
 */
export function openInbox(db: Database, budget?: StorageBudget): Inbox {
  const hot = openHotRows(db)
  const misdated = misdatedStore(db)
  const writeFinding = findingWriter(db)
  const mark = db.prepare('SELECT seq, message_id FROM edge_marks WHERE site_id = ? AND edge_id = ? AND stream = ?')
  const move = db.prepare(
    `INSERT INTO edge_marks VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (site_id, edge_id, stream) DO UPDATE SET seq = excluded.seq, message_id = excluded.message_id`,
  )
  const withdraw = db.prepare('DELETE FROM findings WHERE finding_id = ? AND building_id = ?')
  const states = db.prepare('SELECT states FROM points WHERE building_id = ? AND point_id = ?').pluck()
  const statesOf = (building_id: string, point_id: string) => {
    const text = states.get(building_id, point_id)
    return typeof text === 'string' ? (JSON.parse(text) as string[]) : undefined
  }

  const store = db.transaction(({ building_id, site_id, edge_id, stream, seq, message_id, ...content }: EdgeMessage) => {
    const { readings, misdated: apart, findings, withdrawn } = content
    const numberOf = ({ id, v }: Reading) => toNumber(v, typeof v === 'string' ? statesOf(building_id, id) : undefined)
    const samples = readings.map(reading => ({ id: reading.id, t: reading.t, v: numberOf(reading), q: reading.q }))
    hot.insert(building_id, samples)
    if (apart) misdated.keep(misdatedRows(apart.readings, numberOf, { building_id, edge_id, arrived_at: apart.arrived_at }))
    const foreign = findings.filter(finding => !writeFinding(finding))
    for (const finding_id of withdrawn) withdraw.run(finding_id, building_id)
    move.run(site_id, edge_id, stream, seq, message_id ?? null)
    return foreign.map(({ finding_id }) => finding_id)
  })

  return {
    accept: message => {
      const held = (mark.get(message.site_id, message.edge_id, message.stream) as Mark | undefined) ?? {
        seq: 0,
        message_id: null,
      }
      const stands = at(held.seq, held.message_id ?? undefined)
      if (message.seq <= held.seq) return { status: 'duplicate', ...stands }
      if (message.seq > held.seq + 1) return { status: 'gap', ...stands }
      const ids = new Set(message.readings.map(({ id }) => id))
      const excess = budget?.excessOf(message.building_id, ids)
      if (excess) return { status: 'over_budget', ...excess }
      hot.prepare(message.building_id, ids)
      const foreign = store(message)
      return { status: 'stored', ...at(message.seq, message.message_id), ...(foreign.length > 0 && { foreign }) }
    },
  }
}

type Mark = { seq: number; message_id: string | null }
const at = (through_seq: number, through_id: string | undefined) => ({
  through_seq,
  ...(through_id !== undefined && { through_id }),
})

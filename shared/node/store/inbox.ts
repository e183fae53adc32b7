import type { Accepted, EdgeMessage, Inbox } from '#shared/core/ports.ts'
import type { EdgeBounds } from '#shared/core/telemetry/edge-bounds.ts'
import { misdatedRows } from '#shared/core/telemetry/misdated.ts'
import { type Reading, toNumber } from '#shared/core/telemetry/reading.ts'
import type { StorageBudget } from '#shared/core/tenant-budget.ts'
import { openHotRows } from '../historian/hot/rows.ts'
import type { Database } from '../sqlite.ts'
import { findingWriter } from './findings.ts'
import { misdatedStore } from './misdated.ts'

/** @param needRoom throws while the disk is full and readings must wait */
export const withRoom = ({ accept }: Inbox, needRoom: () => void): Inbox => ({
  accept(messages) {
    needRoom()
    return accept(messages)
  },
})

/**
 * Stores messages of edges: each completely, once, and in the order of its stream.
 *
 * @param budget limits of this workspace; without it there are none
 * @param bounds limits of what edges can invent; without it there are none
 */
export function openInbox(db: Database, budget?: StorageBudget, bounds?: EdgeBounds): Inbox {
  const hot = openHotRows(db)
  const misdated = misdatedStore(db)
  const writeFinding = findingWriter(db)
  const mark = db.prepare('SELECT seq, message_id FROM edge_marks WHERE site_id = ? AND edge_id = ? AND stream = ?')
  const move = db.prepare(
    `INSERT INTO edge_marks VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (site_id, edge_id, stream) DO UPDATE SET seq = excluded.seq, message_id = excluded.message_id`,
  )
  const anyMark = db.prepare('SELECT 1 FROM edge_marks WHERE site_id = ? AND edge_id = ? LIMIT 1')
  const withdraw = db.prepare('DELETE FROM findings WHERE finding_id = ? AND building_id = ?')
  const states = db.prepare('SELECT states FROM points WHERE building_id = ? AND point_id = ?').pluck()
  const statesOf = (building_id: string, point_id: string) => {
    const text = states.get(building_id, point_id)
    return typeof text === 'string' ? (JSON.parse(text) as string[]) : undefined
  }

  const heldMark = ({ site_id, edge_id, stream }: EdgeMessage): Mark =>
    (mark.get(site_id, edge_id, stream) as Mark | undefined) ?? { seq: 0, message_id: null }

  const take = (message: EdgeMessage): Accepted => {
    const held = heldMark(message)
    if (message.seq <= held.seq) return { status: 'duplicate', ...standing(held) }
    if (message.seq > held.seq + 1) return { status: 'gap', ...standing(held) }
    const ids = message.readings.map(({ id }) => id)
    const newSeries = hot.missing(message.building_id, ids)
    const excess = budget?.excess(newSeries.length)
    if (excess) return { status: 'over_budget', ...excess }
    const beyond = bounds?.excessOf(message, newSeries)
    if (beyond !== undefined) return { status: 'over_bounds', reason: beyond }
    if (newSeries.length > 0) hot.prepare(message.building_id, newSeries)
    const isNextStream = held.seq === 0 && anyMark.get(message.site_id, message.edge_id) !== undefined
    const foreign = store(message)
    return {
      status: 'stored',
      ...standing({ seq: message.seq, message_id: message.message_id ?? null }),
      ...(isNextStream && { isNextStream }),
      ...(foreign.length > 0 && { foreign }),
    }
  }

  const store = ({ building_id, site_id, edge_id, stream, seq, message_id, ...content }: EdgeMessage): string[] => {
    const { readings, misdated: apart, findings, withdrawn } = content
    const numberOf = ({ id, v }: Reading) => toNumber(v, typeof v === 'string' ? statesOf(building_id, id) : undefined)
    hot.insert(
      building_id,
      readings.map(reading => (hasNumber(reading) ? reading : { ...reading, v: numberOf(reading) })),
    )
    if (apart) misdated.keep(misdatedRows(apart.readings, numberOf, { building_id, edge_id, arrived_at: apart.arrived_at }))
    const foreign = findings.filter(finding => !writeFinding(finding))
    for (const finding_id of withdrawn) withdraw.run(finding_id, building_id)
    move.run(site_id, edge_id, stream, seq, message_id ?? null)
    return foreign.map(({ finding_id }) => finding_id)
  }

  const takeAll = db.transaction((messages: Iterable<EdgeMessage>) => Array.from(messages, take))

  return {
    accept(messages) {
      try {
        return takeAll.immediate(messages)
      } catch (error) {
        hot.forget()
        throw error
      }
    },
  }
}

const hasNumber = (reading: Reading): reading is Reading & { v: number } => typeof reading.v === 'number'

type Mark = { seq: number; message_id: string | null }
const standing = ({ seq, message_id }: Mark) => ({
  through_seq: seq,
  ...(message_id !== null && { through_id: message_id }),
})

/** Estimates the traffic of polling: requests, bytes, and the share of an MS/TP trunk. */
import { APDU_DEFAULT, firstBatch, fitting, resultBytes } from '../batch.ts'
import { BACNET_PORT, trunkKey } from './discovery.ts'
import { parseTarget, type Target } from '#shared/core/bacnet/object.ts'

/** The fields of a catalogue entry that the estimate uses. */
type PolledEntry = {
  device_id: string
  enabled: boolean
  bacnet?: { host: string; port?: number; network?: number; max_apdu?: number; rpm_max?: number }
  points: readonly { address: string; poll_secs: number }[]
}

export type TrunkTraffic = {
  /** Key of the trunk, see `trunkKey`. */
  trunk: string
  /** The network behind a router; null for a device on the IP network itself. */
  network: number | null
  devices: number
  points: number
  requests_per_minute: number
  bytes_per_minute: number
  /** Share of the trunk's time, 0 and more; null on the IP network. */
  share: number | null
}

/** Traffic of all entries. */
export type Traffic = { requests_per_minute: number; bytes_per_minute: number; trunks: TrunkTraffic[] }

/** Assumed bit rate of a trunk: the most common rate of MS/TP. */
export const TRUNK_BAUD = 38_400
/** Start bit, eight, stop bit (135-2020 9.3). */
const BITS_PER_BYTE = 10
/** Preamble, header and checksums of an MS/TP frame, and the token. */
const TRUNK_FRAME_BYTES = 8 + 2 + 8
/** NPDU and APDU headers of request and answer. */
const REQUEST_HEADER = 16
const ANSWER_HEADER = 12
const OBJECT_IN_REQUEST = 9
const MINUTE_SECS = 60

/** @returns the traffic of the enabled BACnet entries */
export function estimateTraffic(entries: readonly PolledEntry[]): Traffic {
  const byTrunk = new Map<string, TrunkTraffic>()
  for (const entry of entries) {
    if (!entry.bacnet || !entry.enabled) continue
    const { host, port = BACNET_PORT, network } = entry.bacnet
    const trunk = trunkKey({ host, port, ...(network !== undefined && { network }) })
    const sum = byTrunk.get(trunk) ?? emptyTrunk(trunk, network)
    byTrunk.set(trunk, sum)
    add(sum, entry, entry.bacnet)
  }
  const trunks = [...byTrunk.values()].toSorted(
    (a, b) => (b.share ?? -1) - (a.share ?? -1) || b.requests_per_minute - a.requests_per_minute,
  )
  return {
    requests_per_minute: trunks.reduce((sum, one) => sum + one.requests_per_minute, 0),
    bytes_per_minute: trunks.reduce((sum, one) => sum + one.bytes_per_minute, 0),
    trunks,
  }
}

const emptyTrunk = (trunk: string, network: number | undefined): TrunkTraffic => ({
  trunk,
  network: network ?? null,
  devices: 0,
  points: 0,
  requests_per_minute: 0,
  bytes_per_minute: 0,
  share: network === undefined ? null : 0,
})

function add(sum: TrunkTraffic, { points }: PolledEntry, bacnet: NonNullable<PolledEntry['bacnet']>): void {
  sum.devices++
  sum.points += points.length
  for (const [poll_secs, group] of Map.groupBy(points, point => point.poll_secs)) {
    const targets = group.flatMap(({ address }) => {
      const target = parseTarget(address)
      return typeof target === 'string' ? [] : [target]
    })
    const { requests, bytes } = cycleOf(targets, bacnet)
    const perMinute = MINUTE_SECS / poll_secs
    sum.requests_per_minute += requests * perMinute
    sum.bytes_per_minute += bytes * perMinute
    if (sum.share !== null) {
      const onTrunk = (bytes + 2 * requests * TRUNK_FRAME_BYTES) * perMinute * BITS_PER_BYTE
      sum.share += onTrunk / (TRUNK_BAUD * MINUTE_SECS)
    }
  }
}

/** @returns requests of one poll, and the bytes of requests and answers */
function cycleOf(targets: readonly Target[], { max_apdu = APDU_DEFAULT, rpm_max }: NonNullable<PolledEntry['bacnet']>) {
  const batch = firstBatch(max_apdu, rpm_max)
  let requests = 0
  for (let from = 0; from < targets.length; requests++) from += fitting(batch, targets.slice(from, from + batch.size))
  const held = targets.reduce((sum, target) => sum + OBJECT_IN_REQUEST + resultBytes(target), 0)
  return { requests, bytes: held + requests * (REQUEST_HEADER + ANSWER_HEADER) }
}

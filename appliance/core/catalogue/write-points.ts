/** Writes all points of a catalogue as one CSV table, for people and their spreadsheets. */
import type { PointKind } from '#shared/core/model/model.ts'
import { csvLine } from '#shared/core/csv/write-csv.ts'

type PointLine = {
  device: { device_id: string; name: string; enabled: boolean; protocol: string }
  where: string
  /** As people write it; undefined where the driver has no such name. */
  object: string | undefined
  point: {
    point_id: string
    name: string
    address: string
    kind: PointKind
    unit: string
    poll_secs: number
    scale?: number
    offset?: number
    role?: string
    equipment_id?: string
    states?: string[]
  }
}

const COLUMNS = [
  'device_id',
  'device_name',
  'protocol',
  'where',
  'enabled',
  'point_id',
  'point_name',
  'address',
  'kind',
  'unit',
  'scale',
  'offset',
  'poll_secs',
  'role',
  'equipment_id',
  'states',
  'object',
]

/** @returns CSV with a header; state texts stand in one cell, `0=Off|1=On` */
export const writePoints = (lines: readonly PointLine[]): string => [csvLine(COLUMNS, ','), ...lines.map(pointLine)].join('')

function pointLine({ device, where, object, point }: PointLine): string {
  const { device_id, name, protocol, enabled } = device
  const { scale, offset, role, equipment_id, states } = point
  const texts = states?.map((text, i) => `${i}=${text}`).join('|')
  const what = [point.point_id, point.name, point.address, point.kind, point.unit, scale, offset, point.poll_secs]
  return csvLine([device_id, name, protocol, where, String(enabled), ...what, role, equipment_id, texts, object], ',')
}

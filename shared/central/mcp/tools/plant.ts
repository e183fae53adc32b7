/** Tools on health, buildings, equipment and points. */
import { addressText } from '#shared/core/bacnet/object-name.ts'
import type { HealthCheck } from '#shared/central/context.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import type { RuleResult } from '#shared/core/findings/finding.ts'
import { formatDuration, SECOND } from '#shared/core/time.ts'
import { unitLabel } from '#shared/central/ui/measure.ts'
import { strict } from '#shared/node/http/route.ts'
import { Type } from '@sinclair/typebox'
import { cell, clip, pageText, table } from '../answer-text.ts'
import { BUILDING_INPUT, EQUIPMENT_INPUT, LIST, rowLimit, tool } from '../tool.ts'

type Health = {
  ok: boolean
  service: string
  version: string
  started_at: string
  uptime_secs: number
  edges: number
  last_ingest_at: string | null
  checks: Record<string, HealthCheck>
}

export const getHealthTool = tool({
  name: 'get_health',
  title: 'Health of the system',
  effect: 'reads',
  description:
    'Whether central works: each check with its reason in words, the version, how long it runs, and when data came last. Times are UTC.',
  input: strict({}),
  async answer(_given, client) {
    const { ok, service, version, started_at, uptime_secs, edges, last_ingest_at, checks } =
      await client.get<Health>('/api/health/details')
    const lines = Object.entries(checks).map(
      ([name, { status, detail }]) => `- ${name}: ${status}${detail ? `, ${cell(detail, 500)}` : ''}`,
    )
    return clip(
      [
        `${service} ${version} ${ok ? 'works' : 'has a failed check'}; started ${started_at}, ${formatDuration(uptime_secs * SECOND)} ago.`,
        `${edges} edges; data came last ${last_ingest_at ?? 'never'}.`,
        'Checks:',
        ...lines,
      ].join('\n'),
    )
  },
})

export const listBuildingsTool = tool({
  name: 'list_buildings',
  title: 'Buildings',
  effect: 'reads',
  description:
    'Buildings with their ids, time zones and unit systems (us or si). Every other tool writes times and values of a building in these.',
  input: strict(LIST),
  answer: ({ limit, cursor }, client) =>
    pageText(
      async count => {
        const { buildings, next_cursor } = await client.get<{ buildings: Building[]; next_cursor?: string }>(
          '/api/model/buildings',
          {
            limit: count,
            cursor,
          },
        )
        return { items: buildings, next_cursor }
      },
      items => {
        const rows = items.map(one => [one.building_id, cell(one.name), one.site_id, one.timezone, one.unit_system])
        return table(['building_id', 'name', 'site_id', 'timezone', 'units'], rows)
      },
      rowLimit({ limit }),
    ),
})

type EquipmentRow = Equipment & {
  points: number
  active_findings: number
  results: Record<RuleResult['status'], number>
  missing_roles: string[]
}

export const listEquipmentTool = tool({
  name: 'list_equipment',
  title: 'Equipment of a building',
  effect: 'reads',
  description:
    'Equipment of a building: type, what it is fed by and feeds, number of points, active findings, and the points that rules lack on it.',
  input: strict({ building_id: BUILDING_INPUT, ...LIST }),
  answer: ({ building_id, limit, cursor }, client) =>
    pageText(
      async count => {
        const query = { building_id, limit: count, cursor }
        const { equipment, next_cursor } = await client.get<{ equipment: EquipmentRow[]; next_cursor?: string }>(
          '/api/fdd/equipment',
          query,
        )
        return { items: equipment, next_cursor }
      },
      items =>
        table(
          ['equipment_id', 'name', 'type', 'part of', 'feeds', 'points', 'active findings', 'points that rules lack'],
          items.map(one => [
            one.equipment_id,
            cell(one.name),
            one.equipment_type,
            cell(one.parent_id),
            cell(one.feeds?.join(', ')),
            String(one.points),
            String(one.active_findings),
            cell(one.missing_roles.join(', ')),
          ]),
        ),
      rowLimit({ limit }),
    ),
})

type PointReply = Omit<Point, 'gone'> & { gone_at?: string }

export const listPointsTool = tool({
  name: 'list_points',
  title: 'Points of a building',
  effect: 'reads',
  description: 'Points with their role, unit, protocol and address. role "–" means that no rule reads the point yet.',
  input: strict({ building_id: BUILDING_INPUT, equipment_id: Type.Optional(EQUIPMENT_INPUT), ...LIST }),
  answer: ({ building_id, equipment_id, limit, cursor }, client) =>
    pageText(
      async count => {
        const query = { building_id, equipment_id, limit: count, cursor }
        const { points, next_cursor } = await client.get<{ points: PointReply[]; next_cursor?: string }>(
          '/api/model/points',
          query,
        )
        return { items: points, next_cursor }
      },
      items =>
        table(
          ['point_id', 'equipment_id', 'name', 'role', 'unit', 'protocol', 'address', 'read every'],
          items.map(one => [
            one.point_id,
            cell(one.equipment_id),
            cell(one.gone_at === undefined ? one.name : `${one.name} (not measured since ${one.gone_at})`),
            cell(one.role),
            unitLabel(one.unit),
            one.source.protocol,
            cell(addressText(one.source)),
            one.poll_secs === undefined ? '–' : `${one.poll_secs} s`,
          ]),
        ),
      rowLimit({ limit }),
    ),
})

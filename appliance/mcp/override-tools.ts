/** Overrides as the appliance saw them on its own visits. */
import { Type } from '@sinclair/typebox'
import type { CentralClient } from '#shared/central/mcp/central-client.ts'
import { clip } from '#shared/central/mcp/answer-text.ts'
import { BUILDING_INPUT, EQUIPMENT_INPUT, INSTANT, readBuilding, tool } from '#shared/central/mcp/tool.ts'
import type { OverrideSource } from '#shared/central/mcp/tools/changes.ts'
import { overridesText, type SeriesReply } from '#shared/central/mcp/tools/series.ts'
import type { Building, Point } from '#shared/core/model/model.ts'
import { formatInstant } from '#shared/core/time.ts'
import { strict } from '#shared/node/http/route.ts'

/** Roles that one request reads. */
const ROLES_MAX = 50

type Asked = { equipment_id: string; from?: string | undefined; to?: string | undefined }

async function readOverrides(client: CentralClient, place: Building, { equipment_id, ...span }: Asked): Promise<string> {
  const { building_id } = place
  const { points } = await client.get<{ points: Point[] }>('/api/model/points', { building_id, equipment_id, limit: 1000 })
  const roles = [...new Set(points.flatMap(({ role }) => role ?? []))].slice(0, ROLES_MAX)
  if (roles.length === 0) return ''
  const query = { building_id, equipment_id, roles: roles.join(','), max_points: 1, ...span }
  return overridesText(await client.get<SeriesReply>('/api/fdd/series', query), place)
}

export const equipmentOverridesTool = tool({
  name: 'list_overrides',
  title: 'Who held outputs by hand',
  effect: 'reads',
  description:
    'Overrides of an equipment: which priority held which point at which value, from the first visit that saw it to the last. A visit says what was at that instant, not what lay between two visits.',
  input: strict({
    building_id: BUILDING_INPUT,
    equipment_id: EQUIPMENT_INPUT,
    from: Type.Optional(INSTANT),
    to: Type.Optional(INSTANT),
  }),
  async answer({ building_id, ...asked }, client) {
    const text = await readOverrides(client, await readBuilding(client, building_id), asked)
    return clip(text || 'No visit saw an override.', 'ask for a shorter time')
  },
})

/** Of one equipment; overrides of a whole building are on its page. */
export const ownOverrides: OverrideSource = async (client, { place, equipment_id, from, to }) => {
  if (equipment_id === undefined) return ['name an equipment_id to see them']
  const span = { equipment_id, from: formatInstant(from), to: formatInstant(to) }
  const text = await readOverrides(client, place, span)
  return text.split('\n').flatMap(line => (line.startsWith('- ') ? [line.slice(2)] : []))
}

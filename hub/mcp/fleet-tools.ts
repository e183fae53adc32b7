/** The edges of a hub, and the overrides that they saw. The history of priority arrays stays on the edge, which is asked for it. */
import { targetName } from '#shared/core/bacnet/object-name.ts'
import { Type } from '@sinclair/typebox'
import type { edgeView } from '#hub/pages/edge-routes.ts'
import { wordsFor } from '#hub/pages/overrides-read.ts'
import { type CentralClient, CentralError, segment } from '#shared/central/mcp/central-client.ts'
import { cell, localInstant, pageText, table } from '#shared/central/mcp/answer-text.ts'
import { INSTANT, LIST, rowLimit, readBuildings, readPoints, tool } from '#shared/central/mcp/tool.ts'
import type { OverrideSource } from '#shared/central/mcp/tools/changes.ts'
import { ID } from '#shared/core/model/model.ts'
import { formatCount } from '#shared/core/number-text.ts'
import { isOverride, type LevelMeaning, levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { commandOf } from '#shared/core/priority/command-state.ts'
import { HISTORY_SCHEMA, type HistoryAnswer, PAGE_MAX, type WireRecord } from '#shared/core/priority/priority-wire.ts'
import { formatInstant, parseInstant } from '#shared/core/time.ts'
import { strict } from '#shared/node/http/route.ts'

type EdgeReply = ReturnType<typeof edgeView>
type EdgePage = { edges: EdgeReply[]; next_cursor?: string }

export const listEdgesTool = tool({
  name: 'list_edges',
  title: 'Edges of the fleet',
  effect: 'reads',
  description:
    'The appliances that report to this hub: status with its reason, whether the session is open, the age of the data, and how much waits in the outbox. "disconnected" and "reduced" need a look.',
  input: strict(LIST),
  async answer({ limit, cursor }, client) {
    const zones = new Map((await readBuildings(client)).map(one => [one.building_id, one.timezone]))
    const fetch = async (count: number) => {
      const { edges, next_cursor } = await client.get<EdgePage>('/api/edges', { limit: count, cursor })
      return { items: edges, next_cursor }
    }
    const row = ({ edge_id, site_id, building_id, name, status, reason, session, data, reported, version }: EdgeReply) => {
      const at = (instant: string | null) => localInstant(instant, zones.get(building_id ?? '') ?? 'UTC')
      const waiting = reported.backlog_rows === null ? '–' : formatCount(reported.backlog_rows)
      return [
        edge_id,
        site_id,
        cell(building_id),
        cell(name),
        status,
        cell(reason),
        session.open ? 'open' : 'closed',
        at(data.last_at),
        waiting,
        cell(version),
      ]
    }
    const columns = [
      'edge_id',
      'site_id',
      'building_id',
      'name',
      'status',
      'reason',
      'session',
      'last data',
      'messages waiting',
      'version',
    ]
    return pageText(
      fetch,
      items => (items.length === 0 ? 'No edge reports here yet.' : table(columns, items.map(row))),
      rowLimit({ limit }),
    )
  },
})

/** Asks an edge through its hub. @throws CentralError edge_unreachable, edge_timeout and what else the way there answers */
function readHistory(
  client: CentralClient,
  { edge_id, site_id }: { edge_id: string; site_id?: string | undefined },
  body: { since?: string; cursor?: string | undefined; page_size: number },
): Promise<HistoryAnswer> {
  const query = site_id === undefined ? '' : `?${new URLSearchParams({ site_id })}`
  const { cursor, ...asked } = body
  return client.post<HistoryAnswer>(`/api/connectors/${segment(edge_id)}/priority-history${query}`, {
    schema: HISTORY_SCHEMA,
    ...asked,
    ...(cursor !== undefined && { cursor }),
  })
}

export const edgeOverridesTool = tool({
  name: 'list_overrides',
  title: 'Who commands outputs',
  effect: 'reads',
  description:
    "Visits to the priority arrays of an edge, newest first: which priority commands which output with which value, and whether that is an override by a person. A visit says what was at that instant, not what lay between two visits. Values are in the unit of the point; where a box does not say how it scales them, they are the device's own, without a unit.",
  input: strict({
    edge_id: Type.String({ ...ID, description: 'of list_edges' }),
    site_id: Type.Optional(Type.String({ ...ID, description: 'where several sites have an edge of this id' })),
    since: Type.Optional(INSTANT),
    ...LIST,
  }),
  async answer({ since, limit, cursor, ...edge }, client) {
    const { timezone, wordsOf } = await placeOf(client, edge)
    let scanner: HistoryAnswer['scanner'] | undefined
    let meanings = levelMeanings()
    const fetch = async (count: number) => {
      const body = { ...(since !== undefined && { since }), cursor, page_size: Math.min(count, PAGE_MAX) }
      const answer = await readHistory(client, edge, body)
      scanner = answer.scanner
      meanings = levelMeanings(answer.priority_levels)
      return { items: answer.records, next_cursor: answer.next_cursor }
    }
    const render = (items: WireRecord[]) => {
      const rows = items.map(record => {
        const { observed_at, changed } = record
        return [
          localInstant(observed_at, timezone),
          ...recordCells(record, meanings, wordsOf),
          changed.length === 0 ? 'no' : `P${changed.join(', P')}`,
        ]
      })
      const state =
        scanner && !scanner.enabled
          ? `\n\nThe priority scanner of this edge is off${scanner.reason ? `: ${cell(scanner.reason)}` : ''}.`
          : ''
      if (items.length === 0) return `No visit is kept.${state}`
      return table(['seen at', 'point', 'object', 'commanded by', 'value', 'override', 'levels that changed'], rows) + state
    }
    return pageText(fetch, render, rowLimit({ limit }))
  },
})

/** Point, object, level with its name, value, and whether a person holds it. */
function recordCells(record: WireRecord, meanings: LevelMeaning[], wordsOf: ReturnType<typeof wordsFor>): string[] {
  const { target, label, active_level } = record
  const value = commandOf(record)
  const level = active_level === null ? 'nobody' : `P${active_level} ${meanings[active_level - 1]!.name}`
  return [
    cell(label),
    targetName(target),
    level,
    value === undefined ? '–' : cell(wordsOf(record).valueWords(value)),
    isOverride(active_level, meanings) ? 'yes' : 'no',
  ]
}

/** The clock of the building of an edge, and the words for what is commanded there. */
async function placeOf(client: CentralClient, { edge_id, site_id }: { edge_id: string; site_id?: string }) {
  const { edge } = await client.get<{ edge: EdgeReply }>(`/api/edges/${segment(edge_id)}`, { site_id })
  const building = (await readBuildings(client)).find(({ building_id }) => building_id === edge.building_id)
  const points = building ? await readPoints(client, building.building_id) : []
  return { timezone: building?.timezone ?? 'UTC', wordsOf: wordsFor(points, []) }
}

/** Edges of one building that are asked. Each answer comes from a box on site. */
const EDGES_ASKED = 4

/** Overrides that the edges of the building saw. An edge that does not answer is one line of the answer. */
export const fleetOverrides: OverrideSource = async (client, { place, from, to }) => {
  const { edges } = await client.get<EdgePage>('/api/edges', { limit: 1000 })
  const own = edges.filter(({ building_id }) => building_id === place.building_id)
  const wordsOf = wordsFor(own.length > 0 ? await readPoints(client, place.building_id) : [], [])
  const asked = await Promise.all(
    own.slice(0, EDGES_ASKED).map(edge => overrideLines(client, edge, { timezone: place.timezone, wordsOf }, { from, to })),
  )
  return [...asked.flat(), ...(own.length > EDGES_ASKED ? [`${own.length - EDGES_ASKED} more edges were not asked`] : [])]
}

async function overrideLines(
  client: CentralClient,
  edge: EdgeReply,
  { timezone, wordsOf }: { timezone: string; wordsOf: ReturnType<typeof wordsFor> },
  { from, to }: { from: number; to: number },
): Promise<string[]> {
  try {
    const asked = { since: formatInstant(from), page_size: PAGE_MAX }
    const { records, next_cursor, priority_levels } = await readHistory(client, edge, asked)
    const meanings = levelMeanings(priority_levels)
    const lines = records
      .filter(one => one.changed.length > 0 && parseInstant(one.observed_at)! < to)
      .toReversed()
      .map(one => {
        const [point, object, level, value, override] = recordCells(one, meanings, wordsOf)
        return `${localInstant(one.observed_at, timezone)} ${point} (${object}): commanded by ${level}, ${value}${override === 'yes' ? ', an override' : ''}`
      })
    return next_cursor === undefined
      ? lines
      : [...lines, `edge ${edge.edge_id} has earlier visits of this time: list_overrides shows them`]
  } catch (error) {
    if (!(error instanceof CentralError)) throw error
    return [`edge ${edge.edge_id} did not say: ${error.code}, ${error.message}`]
  }
}

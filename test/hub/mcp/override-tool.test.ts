import test, { type ExecutionContext } from 'ava'
import { edgeOverridesTool, fleetOverrides } from '#hub/mcp/fleet-tools.ts'
import { type Connectors, connectorsRoutes } from '#shared/central/api/connectors.ts'
import { openCentralClient } from '#shared/central/mcp/central-client.ts'
import type { Point } from '#shared/core/model/model.ts'
import { HISTORY_SCHEMA, toWireRecord, toWireScanner } from '#shared/core/priority/priority-wire.ts'
import { EDGES, NOW } from '../../support/page-fixture.ts'
import { HISTORY, journalOf, SCANNER } from '../../support/overrides-fixture.ts'
import { openSite } from '../../support/sites/page-site.ts'

const [EDGE] = EDGES
const HELD = 'analog-value,3'

/** A hub that knows the point which is held, and whose edge answers from a journal. */
async function open(t: ExecutionContext, more: Partial<Point>) {
  const journal = journalOf(HISTORY)
  const ask = async (_edge: unknown, _operation: string, { page_size }: { page_size: number }) => ({
    ok: true,
    schema: HISTORY_SCHEMA,
    records: journal.page({ limit: page_size }).records.map(one => ({ ...toWireRecord(one), changed: [8] })),
    scanner: toWireScanner(SCANNER, journal.state()),
  })
  const connectors = { ask, nameOf: () => EDGE!.edge_id } as unknown as Connectors
  const site = await openSite({ product: 'hub', open: true, api: true, more: () => connectorsRoutes(connectors) })
  t.teardown(site.close)
  const { building_id } = EDGE!
  const point = { point_id: 'held', building_id, name: HELD, unit: 'degC', kind: 'number', ...more } as Point
  site.stores.model.put({ points: [point] })
  const client = openCentralClient(site.url, undefined)
  const listed = await edgeOverridesTool.answer({ edge_id: EDGE!.edge_id, limit: 200 }, client)
  const place = site.stores.model.building(building_id)!
  const changes = await fleetOverrides(client, { place, equipment_id: undefined, from: 0, to: NOW })
  const line = (lines: string[]) => lines.find(one => one.includes(HELD) && /Manual operator/.test(one))!
  return [line(listed.split('\n')), line(changes)]
}

for (const [what, more, value] of [
  ['scaled, with its unit', { source: { scaling: { scale: 0.1, offset: 15 } } }, /\b21(\.0)? °C/],
  ['as it stands where the box does not say how it is scaled', { source: {} }, /\b60\b(?! °C)/],
  ['in the words of its states', { kind: 'enum', unit: 'count', source: {}, states: { 60: 'Night' } }, /Night \(60\)/],
] as const) {
  test(`an agent reads what a point is held at as the page of overrides shows it: ${what}`, async t => {
    const source = { protocol: 'bacnet', address: `ahu-1/${HELD}`, ...more.source }
    for (const line of await open(t, { ...more, source } as Partial<Point>)) t.regex(line ?? 'no line', value)
  })
}

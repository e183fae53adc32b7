/** CSV packages, the model as a whole, and analytics. */
import type { ExecutionContext } from 'ava'
import { airHandler, folderForm, MAP, MANIFEST, rows, table, zipForm, zipOf } from '../../support/packages/packages.ts'
import type { Ask } from './asking.ts'

const START = Date.UTC(2026, 2, 1, 6)
const LAST = START + 287 * 300_000
const BUILDING = { building_id: 'b1' }

export async function importAnswers(t: ExecutionContext, ask: Ask): Promise<void> {
  const upload = (form: FormData) => ask('POST', '/api/csv/import/preflight', form)
  const { session_id, verdict } = await upload(zipForm(await zipOf(airHandler(table(rows(288, START))))))
  t.is(verdict, 'pass')
  const refused = await upload(folderForm({ 'manifest.json': JSON.stringify(MANIFEST), 'AHU-1/history_wide.csv': 'a,b\n1,2\n' }))
  t.is(refused.can_execute, false)
  const order = { session_id, confirm: true }
  await ask('POST', '/api/csv/import/execute?dry_run=true', order)
  await ask('POST', '/api/csv/import/execute', order)
  t.is((await ask('POST', '/api/csv/import/execute?dry_run=true', order)).rows_written, 0)
  const chunk = { confirm: true, ...BUILDING, equipment_id: 'AHU-1', csv: table(rows(12, LAST + 300_000)) }
  t.is((await ask('POST', '/api/csv/import/package/append', chunk)).rows_added, 12)
  await ask('GET', '/api/csv/import/package/mapping?building_id=b1')
  await ask('GET', '/api/ingest/contract')

  // Two tables whose columns somebody says by hand.
  const two = await upload(folderForm({ 'one.csv': table(rows(50, START)), 'other.csv': table(rows(50, START)) }))
  const mapping = `/api/csv/import/preflight/${two.session_id}/mapping`
  const shown = await ask('GET', mapping)
  t.is(shown.tables.length, 2)
  const columns = [
    { header: 'SAT', equipment_id: 'AHU-2', role: 'sa_t', unit: 'degF' },
    { header: 'OAT', equipment_id: 'AHU-2' },
  ]
  const equipment = [{ equipment_id: 'AHU-2', equipment_type: MAP.equipType }]
  await ask('PUT', `${mapping}?table=${encodeURIComponent(shown.table)}`, {
    ...{ ...BUILDING, timezone: 'UTC', grid_minutes: 5, time_columns: ['timestamp_utc'], equipment, columns },
  })
  await ask('GET', mapping)
  const left = shown.tables.find((one: { table: string }) => one.table !== shown.table).table
  await ask('DELETE', `${mapping}?table=${encodeURIComponent(left)}`)

  const grid = await ask('GET', '/api/model/export?building_id=b1&format=haystack')
  const text = { ...BUILDING, format: 'haystack', text: JSON.stringify(grid) }
  t.is((await ask('POST', '/api/model/import?dry_run=true', text)).unchanged.equipment, 1)
  await ask('POST', '/api/model/import', { ...text, confirm: true })
  const open = {
    point_id: 'AHU-1.RAT',
    ...BUILDING,
    equipment_id: 'AHU-1',
    name: 'Return air temp',
    unit: 'degF',
    kind: 'number',
  }
  await ask('POST', '/api/model/points', { points: [{ ...open, source: { protocol: 'csv', address: 'RAT' } }] })
  t.is((await ask('GET', '/api/model/suggestions?building_id=b1')).points[0].suggestions[0].role, 'ra_t')
  await ask('GET', '/api/csv/import/package/mapping?building_id=b1')

  const span = { ...BUILDING, from: new Date(START).toISOString(), to: new Date(LAST).toISOString() }
  await ask('POST', '/api/analytics/economizer', { ...span, equipment_ids: ['AHU-1'] })
  t.true((await ask('GET', `/api/analytics/operations?${new URLSearchParams(span)}`)).days.length > 0)
  await ask('GET', '/api/analytics/sql-anomaly/status')
  t.is((await ask('GET', '/api/building/snapshot')).buildings, 1)
  await ask('GET', '/api/dashboard/summary')
}

/** What a run says of an imported package that is clean: what passed, what did not apply, and what lacks data. */
import test, { type ExecutionContext } from 'ava'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { airHandler, type Files, table } from '../../../support/packages/packages.ts'
import { importer } from '../../../support/packages/importer.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

type Result = { rule_id: string; status: string; state: string; reason?: string; missing_roles?: string[]; coverage: number }
type Run = { run_id: string; results: Result[]; counts: Record<string, number> }

const CATALOGUE = join(import.meta.dirname, '../../../../rules')
/** Mid-afternoon in Chicago, so that the days of the package are not days of the building. */
const START = Date.UTC(2026, 2, 9, 20, 20)

let site: TestCentral
test.before(async () => {
  site = await startCentral()
  const rules = readdirSync(CATALOGUE, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.yaml'))
    .map(name => ({ filename: name.split('/').at(-1)!, yaml: readFileSync(join(CATALOGUE, name), 'utf8') }))
  const answer = await site.call('operator', 'POST', '/api/rules/batch', { confirm: true, rules })
  if (answer.status !== 200) throw new Error(answer.text)
})
test.after.always(() => site?.close())

const { imported, ownBuilding } = importer(() => site)

/** An air handler in good order: mechanical cooling on warm days, 5-minute rows, no gap. `fan`: 0 for one that never runs. */
function cleanPackage(building_id: string, days: number, fan: 0 | 1): Files {
  const rows = Array.from({ length: (days * DAY) / (5 * MINUTE) }, (_, i) => {
    const wave = Math.sin((i * 5 * MINUTE * 2 * Math.PI) / DAY)
    const small = Math.sin(i / 7) * 0.1
    const oat = 29 + 4 * wave + small
    const rat = 23 + small / 2
    const mat = rat + 0.2 * (oat - rat) + small / 4
    const sat = fan ? 13 + small : rat
    const cells = [sat, 13, mat, rat, oat, fan, 0.2, fan ? 0.55 + 0.1 * wave + small / 10 : 0, 0]
    return [new Date(START + i * 5 * MINUTE).toISOString(), ...cells.map(cell => cell.toFixed(3))].join(',')
  })
  const names = ['SAT', 'SATSP', 'MAT', 'RAT', 'OAT', 'Fan', 'OAD', 'CLG', 'HTG']
  const roles = ['sa_t', 'sa_t_sp', 'ma_t', 'ra_t', 'oa_t', 'fan_status', 'oa_damper', 'clg_valve', 'htg_valve']
  const unitOf = (i: number) => (i < 5 ? 'degC' : i === 5 ? 'bool' : 'fraction')
  const map = {
    points: Object.fromEntries(roles.map((role, i) => [role, names[i]])),
    units: Object.fromEntries(names.map((name, i) => [name, unitOf(i)])),
  }
  return airHandler(table(rows, ['timestamp_utc', ...names].join(',')), { manifest: { building_id }, map })
}

async function runOf(files: Files, building_id: string): Promise<Run> {
  await imported(files)
  const answer = await site.call('operator', 'POST', '/api/fdd/run', { building_id })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body as Run
}

const mapped = ({ results }: Run): Result[] => results.filter(({ reason }) => reason !== 'missing_role')
const inState = (results: Result[], state: string): string[] =>
  results.filter(one => one.state === state).map(({ rule_id }) => rule_id)

/** The rules whose windows or baselines are days long, a minority, have not seen enough yet; nothing else keeps a rule from its word. */
function lacksOnlyHistory(t: ExecutionContext, able: Result[]): void {
  const without = able.filter(({ state }) => state === 'no_data')
  t.deepEqual([...new Set(without.map(({ reason }) => reason))], ['insufficient_history'])
  t.true(without.length <= able.length / 3, without.map(({ rule_id }) => rule_id).join(', '))
}

test.serial('of a clean package of three days most rules pass, and the counts add up wherever they are told', async t => {
  const { building_id } = ownBuilding()
  const run = await runOf(cleanPackage(building_id, 3, 1), building_id)
  const able = mapped(run)
  t.deepEqual(inState(able, 'fault'), [], 'nothing is found on a clean unit')
  t.true(inState(able, 'pass').length >= 16, `${inState(able, 'pass').length} of ${able.length} passed`)
  t.true(inState(able, 'gated').length >= 12, 'no free cooling and no heating in warm weather')
  lacksOnlyHistory(t, able)

  const { counts, results } = run
  t.deepEqual(Object.keys(counts), ['fault', 'pass', 'gated', 'no_data'])
  for (const [state, count] of Object.entries(counts)) t.is(count, inState(results, state).length, state)
  t.is(
    Object.values(counts).reduce((a, b) => a + b),
    results.length,
  )
  const { body } = await site.call('viewer', 'GET', `/api/fdd/runs/${run.run_id}`)
  t.deepEqual(body.run.counts, counts)
  const reasons: Record<string, number> = body.run.reasons
  t.is(
    Object.values(reasons).reduce((a, b) => a + b),
    counts['gated']! + counts['no_data']!,
  )
  const { body: equipment } = await site.call('viewer', 'GET', `/api/fdd/equipment?building_id=${building_id}`)
  t.deepEqual(equipment.equipment[0].results, counts)
  const { body: gated } = await site.call('viewer', 'GET', `/api/fdd/results?building_id=${building_id}&state=gated&limit=1000`)
  t.is(gated.results.length, counts['gated'])
})

test.serial('of a unit that never runs, rules that look at a running unit do not apply', async t => {
  const { building_id } = ownBuilding()
  const run = await runOf(cleanPackage(building_id, 3, 0), building_id)
  const able = mapped(run)
  t.true(inState(able, 'gated').length > able.length / 3, `${inState(able, 'gated').length} of ${able.length} are gated`)
  lacksOnlyHistory(t, able)
})

test.serial('a package shorter than the lookback is judged by the time that it has', async t => {
  const { building_id } = ownBuilding()
  const run = await runOf(cleanPackage(building_id, (30 * HOUR) / DAY, 1), building_id)
  t.true(inState(mapped(run), 'pass').length >= 12, inState(mapped(run), 'pass').join(', '))
  lacksOnlyHistory(t, mapped(run))
})

/** Over real HTTP and the real rule process: how often rule files are read is counted, never how long it takes. */
import test from 'ava'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { warmRule } from '../../../support/rule-texts.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral

test.before(async () => {
  site = await startCentral({ pages: true })
  const { model } = site.central.context
  const building = { building_id: 'b1', name: 'B', site_id: 'site-1', timezone: 'UTC', unit_system: 'si' } as const
  const equipment = { building_id: 'b1', equipment_id: 'ahu-1', name: 'AHU 1', equipment_type: 'ahu' } as const
  model.put({ building, equipment: [equipment] })
})
test.after.always(() => site?.close())

/** Everything that speaks of rules, as the API and as pages. */
const PATHS = [
  '/api/fdd-rules',
  '/api/fdd/coverage?building_id=b1',
  '/api/fdd/params?building_id=b1',
  '/api/fdd/params/AHU-ALWAYS-ON?building_id=b1',
  '/coverage?building=b1',
  '/params?building=b1',
  '/params/AHU-ALWAYS-ON?building=b1',
  '/baselines?building=b1',
]

/** Asks until nothing is read any more: what changed a moment ago is read twice. */
async function settled(): Promise<number> {
  const { rules } = site.central.context
  for (let tries = 0; tries < 100; tries++) {
    const before = rules.reads()
    await rules.catalogue()
    if (rules.reads() === before) return before
  }
  throw new Error('the files are read for ever')
}

test.serial('no number of requests reads a rule while nothing has changed', async t => {
  const reads = await settled()
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(PATHS.map(path => site.call('viewer', 'GET', path)))
    t.deepEqual(
      answers.map(({ status }) => status),
      PATHS.map(() => 200),
    )
  }
  t.is(site.central.context.rules.reads(), reads)
})

test.serial('a file that appears in the folder, and one that goes, are on every page at the next request', async t => {
  const path = join(site.workspace, 'rules', 'own.yaml')
  const seen = async () => {
    const api = await site.call('viewer', 'GET', '/api/fdd-rules?limit=1000')
    const coverage = await site.call('viewer', 'GET', '/api/fdd/coverage?building_id=b1')
    const params = await site.call('viewer', 'GET', '/params?building=b1&q=TEST-WARM')
    const page = await site.call('viewer', 'GET', '/params/TEST-WARM?building=b1')
    return [
      api.body.rules.some(({ id }: { id: string }) => id === 'TEST-WARM'),
      coverage.body.rules.some(({ rule_id }: { rule_id: string }) => rule_id === 'TEST-WARM'),
      params.text.includes('/params/TEST-WARM?'),
      page.status === 200,
    ]
  }
  const reads = await settled()
  t.deepEqual(await seen(), [false, false, false, false])
  await site.central.context.rules.withDeployed(async () => writeFileSync(path, warmRule()))
  t.deepEqual(await seen(), [true, true, true, true])
  rmSync(path)
  t.deepEqual(await seen(), [false, false, false, false])
  t.true(site.central.context.rules.reads() > reads)
})

test.serial('a rule that is switched off leaves coverage at once', async t => {
  const lists = async () => {
    const { body } = await site.call('viewer', 'GET', '/api/fdd/coverage?building_id=b1')
    return body.rules.some(({ rule_id }: { rule_id: string }) => rule_id === 'AHU-ALWAYS-ON')
  }
  t.true(await lists())
  t.is((await site.call('operator', 'POST', '/api/fdd-rules/AHU-ALWAYS-ON/activate?active=false')).status, 200)
  t.false(await lists())
  t.is((await site.call('operator', 'POST', '/api/fdd-rules/AHU-ALWAYS-ON/activate')).status, 200)
  t.true(await lists())
})

/** Deployed rules while several people change, list and run them, and what a crash leaves half moved. */
import test from 'ava'
import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'
import { warmRule } from '../../../support/rule-texts.ts'
import { startCentral } from '../../../support/sites/central-site.ts'

const ids = ({ rules }: { rules: { id: string }[] }) => rules.map(({ id }) => id)

test('deployments and listings at the same time wait for each other, and each deployment is whole', async t => {
  const site = await startCentral()
  t.teardown(() => site.close())
  const deploy = (name: string) => {
    const rules = ['a', 'b', 'c', 'd'].map(part => {
      return { filename: `${name}-${part}.yaml`, yaml: warmRule(`TEST-${name}-${part}`.toUpperCase()) }
    })
    return site.call('operator', 'POST', '/api/rules/batch', { confirm: true, rules })
  }
  const names = ['one', 'two', 'three']
  const list = () => site.call('admin', 'GET', '/rules')
  let over = false
  const deployed = Promise.all(names.map(deploy)).finally(() => (over = true))
  while (!over) {
    const listed = await list()
    t.is(listed.status, 200, listed.text)
    t.is(listed.body.deployed % 4, 0, 'half of a deployment')
  }
  for (const { status, text } of await deployed) t.is(status, 200, text)
  t.is((await list()).body.deployed, 4 * names.length)
})

test('what is decided and not in place yet counts whole: what it puts, what it replaces and what it removes', t => {
  const dir = temporaryFolder(t)
  const file = (name: string, id: string, limit = 70) => writeFileSync(join(dir, name), warmRule(id, limit))
  file('a.yaml', 'TEST-A', 60) // in place already
  file('b.yaml', 'TEST-B', 50)
  file('c.yaml', 'TEST-C')
  mkdirSync(join(dir, '.decided-1'))
  file('.decided-1/b.yaml', 'TEST-B', 60)
  file('.decided-1/d.yaml', 'TEST-D', 60)
  file('.decided-1/e.yaml.tmp', 'TEST-E', 60)
  writeFileSync(join(dir, '.decided-1', 'removals.json'), '["c.yaml"]')
  const { rules, errors } = loadRules([dir])
  t.deepEqual(
    rules.map(({ id, params }) => [id, params['limit']!.default]),
    [
      ['TEST-A', 60],
      ['TEST-B', 60],
      ['TEST-D', 60],
    ],
  )
  t.deepEqual(errors, [])
})

/** A deployer in a process of its own, which knows nothing of who reads: 12 changes of forty files, with a pause as a person makes one. */
const DEPLOYER = `
import { setTimeout } from 'node:timers/promises'
import { openDeployedRules } from ${JSON.stringify(new URL('../../../../shared/central/fdd/deployed-rules.ts', import.meta.url).href)}
import { warmRule } from ${JSON.stringify(new URL('../../../support/rule-texts.ts', import.meta.url).href)}
const rules = await openDeployedRules(process.argv[1])
for (let n = 0; n < 12; n++) {
  const put = Array.from({ length: 40 }, (_, i) => ({ filename: 'r' + i + '.yaml', yaml: warmRule('TEST-R' + i, 50 + n) }))
  await rules.change(put, [])
  await setTimeout(200)
}`

test('whoever reads while files are deployed together sees all of them or none', async t => {
  const dir = temporaryFolder(t)
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', DEPLOYER, dir])
  const seen = new Set<number>()
  let over = false
  const ended = run.finally(() => (over = true))
  while (!over) {
    const { rules, errors } = loadRules([dir])
    t.deepEqual(errors, [])
    const limits = new Set(rules.map(({ params }) => params['limit']!.default))
    t.true(rules.length === 0 || (rules.length === 40 && limits.size === 1), `${ids({ rules })} ${[...limits]}`)
    for (const limit of limits) seen.add(limit)
    await new Promise(setImmediate)
  }
  await ended
  t.deepEqual([...new Set(loadRules([dir]).rules.map(({ params }) => params['limit']!.default))], [61])
  t.true(seen.size > 0)
})

test('what lies in the folder and is no file keeps nobody from deploying', async t => {
  const site = await startCentral()
  t.teardown(() => site.close())
  const folder = join(site.workspace, 'rules')
  mkdirSync(join(folder, 'deep.yaml'), { recursive: true })
  symlinkSync('nowhere', join(folder, 'dangling.yaml'))
  const rules = [{ filename: 'warm.yaml', yaml: warmRule() }]
  t.like((await site.call('operator', 'POST', '/api/rules/batch', { confirm: true, rules })).body, { ok: true, deployed: 1 })
  t.like((await site.call('admin', 'GET', '/rules')).body, { deployed: 1 })
  const inPlace = [{ filename: 'deep.yaml', yaml: warmRule('TEST-DEEP') }]
  const refused = await site.call('operator', 'POST', '/api/rules/batch', { confirm: true, rules: inPlace })
  t.deepEqual([refused.status, refused.body.code], [422, 'rule_invalid'])
  t.like((await site.call('admin', 'GET', '/rules')).body, { deployed: 1 }, 'nothing is stuck half-way')
})

test('a folder of rules that is set while the process runs is the one whose rules are tuned and explained', async t => {
  const site = await startCentral()
  t.teardown(() => site.close())
  const rules_dir = join(site.workspace, 'other-rules')
  t.is((await site.call('admin', 'PUT', '/config', { rules_dir })).status, 200)
  mkdirSync(rules_dir)
  writeFileSync(join(rules_dir, 'warm.yaml'), warmRule())
  const building = { building_id: 'b1', name: 'B', site_id: 'site-1', timezone: 'UTC', unit_system: 'si' } as const
  site.central.context.model.put({ building })
  t.is((await site.call('viewer', 'GET', '/api/fdd/params/TEST-WARM?building_id=b1')).status, 200)
})

import test from 'ava'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brokenYaml, warmRule } from '../../../support/rule-texts.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral({ pages: true })
  const building = { building_id: 'b1', name: 'B', site_id: 'site-1', timezone: 'UTC', unit_system: 'si' } as const
  site.central.context.model.put({ building })
})
test.after.always(() => site?.close())

const YAML = { 'content-type': 'application/yaml' }
const SHIPPED = new URL('../../../../rules/ahu/fan/', import.meta.url)
const RULE = 'AHU-ALWAYS-ON'
const list = async () => (await site.call('admin', 'GET', '/rules')).body
const fileOf = async (name: string) => (await list()).files.find(({ filename }: any) => filename === name)
const fileWith = async (id: string) => (await list()).files.find(({ rules }: any) => rules.includes(id))
const deployed = () => join(site.workspace, 'rules')
const definitions = async (query = '?limit=1000') => (await site.call('viewer', 'GET', `/api/fault-definitions${query}`)).body
const definitionOf = async (id: string) => (await definitions()).definitions.find(({ fault_id }: any) => fault_id === id)
const sync = async () => (await site.call('admin', 'POST', '/rules/sync-definitions')).body

test.serial('the list holds the file of every rule that runs, and marks what is shipped', async t => {
  const { files, count } = await list()
  const { body } = await site.call('viewer', 'GET', '/api/fdd-rules?limit=1000')
  t.deepEqual(files.flatMap(({ rules }: any) => rules).toSorted(), body.rules.map(({ id }: any) => id).toSorted())
  t.is(count, files.length)
  const shipped = await fileWith(RULE)
  t.like(shipped, { shipped: true, overrides_shipped: false, active: true, rules: [RULE] })
  const text = await readFile(new URL(shipped.filename, SHIPPED), 'utf8')
  t.is(shipped.bytes, Buffer.byteLength(text))
  t.is((await site.call('admin', 'GET', `/rules/${shipped.filename}`)).text, text, 'what is listed can be read')
  t.is((await site.call('operator', 'GET', '/rules')).status, 403)
})

test.serial('a deployed rule takes the place of a shipped one in the list until it is removed', async t => {
  const { filename: shippedName } = await fileWith(RULE)
  t.is((await site.call('admin', 'PUT', '/rules/mine.yaml', warmRule(RULE), YAML)).status, 200)
  t.like(await fileWith(RULE), { filename: 'mine.yaml', shipped: false, overrides_shipped: true })
  t.is(await fileOf(shippedName), undefined)
  t.is((await site.call('admin', 'DELETE', '/rules/mine.yaml')).status, 200)
  t.like(await fileWith(RULE), { filename: shippedName, shipped: true })
  const refused = await site.call('admin', 'DELETE', `/rules/${shippedName}`)
  t.deepEqual([refused.status, refused.body.code], [409, 'conflict'])
  t.true(refused.body.detail.includes(RULE))
  t.truthy(await fileOf(shippedName))
})

test.serial('a rule that is switched off is marked, and a deployed file that does not check says why', async t => {
  await site.call('operator', 'POST', `/api/fdd-rules/${RULE}/activate?active=false`)
  t.false((await fileWith(RULE)).active)
  await site.call('operator', 'POST', `/api/fdd-rules/${RULE}/activate`)
  t.true((await fileWith(RULE)).active)
  mkdirSync(join(deployed(), 'deep'), { recursive: true })
  writeFileSync(join(deployed(), 'broken.yaml'), brokenYaml)
  writeFileSync(join(deployed(), 'deep', 'own.yaml'), warmRule('TEST-DEEP'))
  t.teardown(() => {
    rmSync(join(deployed(), 'broken.yaml'))
    rmSync(join(deployed(), 'deep'), { recursive: true })
  })
  const broken = await fileOf('broken.yaml')
  t.like(broken, { shipped: false, rules: [], active: false })
  t.true(broken.errors.length > 0)
  t.like(await fileOf('deep/own.yaml'), { rules: ['TEST-DEEP'], shipped: false })
})

test.serial('a file that defines a deployed rule again is refused, unless it replaces that file', async t => {
  t.is((await site.call('admin', 'PUT', '/rules/a.yaml', warmRule('TEST-A'), YAML)).status, 200)
  const second = await site.call('admin', 'PUT', '/rules/b.yaml', warmRule('TEST-A', 60), YAML)
  t.deepEqual([second.status, second.body.code], [422, 'rule_invalid'])
  t.is((await site.call('admin', 'PUT', '/rules/a.yaml', warmRule('TEST-A', 60), YAML)).status, 200, 'a file replaces itself')
  t.is((await site.call('admin', 'DELETE', '/rules/a.yaml')).status, 200)
})

test.serial('synchronising fills the table with the words of the rules, and again changes nothing', async t => {
  const first = await sync()
  const { rules } = (await site.call('viewer', 'GET', '/api/fdd-rules?limit=1000')).body
  t.is(first.count, rules.length)
  const before = await definitions()
  const live = before.definitions.filter(({ retired_at }: any) => retired_at === undefined)
  t.deepEqual(
    live.map(({ fault_id, title, category, severity, equipment_types, source }: any) => [
      fault_id,
      title,
      category,
      severity,
      equipment_types,
      source,
    ]),
    rules.map(({ id, title, kind, severity, equipment, source }: any) => [id, title, kind, severity, equipment, source]),
  )
  for (const { description } of live) t.regex(description, /^Fault when: /)
  t.like(await sync(), { added: 0, changed: 0, retired: 0, unchanged: rules.length })
  t.deepEqual(await definitions(), before)
})

test.serial('the table is read in pages, by viewers', async t => {
  const all = (await definitions()).definitions.map(({ fault_id }: any) => fault_id)
  const seen: string[] = []
  let cursor = ''
  for (let pages = 0; pages < 100; pages++) {
    const { definitions: page, next_cursor } = await definitions(`?limit=50${cursor && `&cursor=${cursor}`}`)
    seen.push(...page.map(({ fault_id }: any) => fault_id))
    if (next_cursor === undefined) break
    cursor = next_cursor
  }
  t.deepEqual(seen, all)
  t.is((await site.call('viewer', 'GET', '/api/fault-definitions?cursor=x')).body.code, 'bad_cursor')
  t.is((await site.call('nobody', 'GET', '/api/fault-definitions')).status, 401)
})

test.serial('a deployed rule is in the table with other words, a removed one is retired, and comes back', async t => {
  const put = (text: string) => site.call('admin', 'PUT', '/rules/warm.yaml', text, YAML)
  await put(warmRule())
  t.like(await definitionOf('TEST-WARM'), { title: 'Supply air above 70 °F', description: 'Fault when: sa_t > limit.' })
  await put(warmRule('TEST-WARM', 60))
  t.is((await definitionOf('TEST-WARM')).title, 'Supply air above 60 °F')
  const page = await site.call('viewer', 'GET', '/params?building=b1&q=TEST-WARM')
  t.true(page.text.includes('Supply air above 60\u00a0°F'), 'pages read the same')
  await site.call('admin', 'DELETE', '/rules/warm.yaml')
  const gone = await definitionOf('TEST-WARM')
  t.is(gone.title, 'Supply air above 60 °F')
  t.is(typeof gone.retired_at, 'string')
  t.like(await sync(), { added: 0, changed: 0, retired: 0 })
  t.deepEqual(await definitionOf('TEST-WARM'), gone)
  writeFileSync(join(deployed(), 'warm.yaml'), warmRule('TEST-WARM', 60))
  t.like(await sync(), { added: 0, changed: 1, retired: 0 })
  t.is((await definitionOf('TEST-WARM')).retired_at, undefined)
  rmSync(join(deployed(), 'warm.yaml'))
  t.like(await sync(), { retired: 1 })
})

import test from 'ava'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Rule, WrittenRule } from '#shared/core/rules/types.ts'
import { openRuleCache } from '#shared/node/rule-cache.ts'
import { loadRules } from '#shared/node/rule-files.ts'
import { yamlOf } from '../shared/rules/helpers.ts'

const SHIPPED = new URL('../../rules', import.meta.url).pathname

function place(t: { teardown(fn: () => void): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-rule-cache-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const rules = join(folder, 'rules')
  mkdirSync(rules)
  const write = (name: string, text: string) => writeFileSync(join(rules, name), text)
  return { file: join(folder, 'cache', 'rules.parsed'), rules, write }
}

const bare = ({ body: _body, tests: _tests, ...rule }: WrittenRule): Rule => rule
const titles = ({ rules }: { rules: Rule[] }) => rules.map(({ id, title }) => `${id} ${title}`)

test('the catalogue out of the cache is what its files say', async t => {
  const { file } = place(t)
  const said = loadRules([SHIPPED]).rules.map(bare)
  t.true(said.length > 100)
  t.deepEqual((await openRuleCache(file, 'v').load([SHIPPED])).rules, said)
  const again = await openRuleCache(file, 'v').load([SHIPPED])
  t.deepEqual(again, { rules: said, errors: [] })
})

test('a file counts as it is, whatever came of it before', async t => {
  const { file, rules, write } = place(t)
  write('a.yaml', yamlOf({ id: 'A', title: 'first' }))
  write('b.yaml', yamlOf({ id: 'B' }))
  const cache = openRuleCache(file, 'v')
  t.deepEqual(titles(await cache.load([rules])), ['A first', 'B A rule'])

  write('a.yaml', yamlOf({ id: 'A', title: 'second' }))
  rmSync(join(rules, 'b.yaml'))
  t.deepEqual(titles(await cache.load([rules])), ['A second'])
  t.deepEqual(titles(await openRuleCache(file, 'v').load([rules])), ['A second'], 'the next process sees it too')

  write('a.yaml', yamlOf({ id: 'A', when: 'sa_t >' }))
  const broken = await openRuleCache(file, 'v').load([rules])
  t.deepEqual([broken.rules, broken.errors.map(({ filename }) => filename)], [[], [join(rules, 'a.yaml')]])
  write('a.yaml', yamlOf({ id: 'A', title: 'third' }))
  t.deepEqual(titles(await openRuleCache(file, 'v').load([rules])), ['A third'])
})

test('the same text elsewhere is told under its own name', async t => {
  const { file, rules, write } = place(t)
  write('a.yaml', yamlOf({ id: 'A' }))
  const cache = openRuleCache(file, 'v')
  await cache.load([rules])
  rmSync(join(rules, 'a.yaml'))
  write('moved.yaml', yamlOf({ id: 'A' }))
  t.deepEqual(
    (await cache.load([rules])).rules.map(({ filename }) => filename),
    [join(rules, 'moved.yaml')],
  )
})

test('what is not, to the bit, what this program kept is parsed anew and kept again', async t => {
  const { file, rules, write } = place(t)
  write('a.yaml', yamlOf({ id: 'A', title: 'as written' }))
  await openRuleCache(file, 'v').load([rules])
  const whole = readFileSync(file)
  const flipped = Buffer.from(whole)
  flipped[flipped.length - 5]! ^= 1
  for (const content of [Buffer.alloc(0), whole.subarray(0, 20), flipped, Buffer.from('something else')]) {
    writeFileSync(file, content)
    t.deepEqual(titles(await openRuleCache(file, 'v').load([rules])), ['A as written'])
    t.deepEqual(readFileSync(file), whole)
  }
  await openRuleCache(file, 'another').load([rules])
  t.notDeepEqual(readFileSync(file), whole, "another program's rules take their place")
})

test('a load that finds nothing new writes nothing, and one that cannot write goes on', async t => {
  const { file, rules, write } = place(t)
  write('a.yaml', yamlOf({ id: 'A' }))
  await openRuleCache(file, 'v').load([rules])
  const { mtimeMs, ino } = statSync(file)
  await openRuleCache(file, 'v').load([rules])
  t.deepEqual([statSync(file).mtimeMs, statSync(file).ino], [mtimeMs, ino])

  const blocked = join(rules, 'a.yaml', 'rules.parsed')
  t.deepEqual(titles(await openRuleCache(blocked, 'v').load([rules])), ['A A rule'], 'its folder is a file')
  t.false(existsSync(blocked))
  const locked = place(t)
  chmodSync(locked.rules, 0o555)
  t.deepEqual(titles(await openRuleCache(join(locked.rules, 'x', 'rules.parsed'), 'v').load([rules])), ['A A rule'])
  chmodSync(locked.rules, 0o755)
})

import test from 'ava'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDeployedRules } from '#shared/central/fdd/deployed-rules.ts'
import type { Rule, WrittenRule } from '#shared/core/rules/check/rule.ts'
import { type CachedRule, openRuleCache } from '#shared/node/rules/rule-cache.ts'
import { type LoadedRules, loadRules } from '#shared/node/rules/rule-files.ts'
import { QUIET_MS } from '#shared/node/rules/settled-files.ts'
import { yamlOf } from '../../../support/rules/helpers.ts'

const TESTS = '\ntests:\n  - name: warm\n    step: 5m\n    sa_t: 30x6\n    faults: [00:00-]\n'
/** A whole rule. */
const ruleOf = (keys: Record<string, string>) => yamlOf(keys) + TESTS
const SHIPPED = new URL('../../../../rules', import.meta.url).pathname

function place(t: { teardown(fn: () => void): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-rule-cache-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const rules = join(folder, 'rules')
  mkdirSync(rules)
  const write = (name: string, text: string) => writeFileSync(join(rules, name), text)
  const append = (name: string, text: string) => appendFileSync(join(rules, name), text)
  /** As if the file had been left alone since. */
  const rest = (name: string) => {
    const at = (Date.now() - QUIET_MS) / 1000
    utimesSync(join(rules, name), at, at)
  }
  return { file: join(folder, 'cache', 'rules.parsed'), rules, write, append, rest }
}

/** The texts that people read stay; the tests and the rest of the file do not. */
function bare({ body: { gate, let: lets = {} }, tests: _tests, ...rule }: WrittenRule): CachedRule {
  const texts = Object.entries(lets as Record<string, unknown>).map(([name, text]) => [name, String(text)])
  return { ...rule, ...(gate !== undefined && { gate: String(gate) }), lets: Object.fromEntries(texts) }
}
const titles = ({ rules }: { rules: Rule[] }) => rules.map(({ id, title }) => `${id} ${title}`)

test('the catalogue out of the cache is what its files say', async t => {
  const { file } = place(t)
  const said = loadRules([SHIPPED]).rules.map(bare)
  t.true(said.length > 100)
  t.deepEqual((await openRuleCache(file, 'v').load([SHIPPED])).rules, said)
  const again = await openRuleCache(file, 'v').load([SHIPPED])
  t.deepEqual([again.rules, again.errors], [said, []])
})

test('a file counts as it is, whatever came of it before', async t => {
  const { file, rules, write, rest } = place(t)
  write('a.yaml', ruleOf({ id: 'A', title: 'first' }))
  write('b.yaml', ruleOf({ id: 'B' }))
  const cache = openRuleCache(file, 'v')
  t.deepEqual(titles(await cache.load([rules])), ['A first', 'B A rule'])

  write('a.yaml', ruleOf({ id: 'A', title: 'second' }))
  rmSync(join(rules, 'b.yaml'))
  t.deepEqual(titles(await cache.load([rules])), ['A second'])
  t.deepEqual(titles(await openRuleCache(file, 'v').load([rules])), ['A second'], 'the next process sees it too')

  write('a.yaml', ruleOf({ id: 'A', when: 'sa_t >' }))
  rest('a.yaml')
  const broken = await openRuleCache(file, 'v').load([rules])
  t.deepEqual([broken.rules, broken.errors.map(({ filename }) => filename)], [[], [join(rules, 'a.yaml')]])
  write('a.yaml', ruleOf({ id: 'A', title: 'third' }))
  t.deepEqual(titles(await openRuleCache(file, 'v').load([rules])), ['A third'])
})

test('the same text elsewhere is told under its own name', async t => {
  const { file, rules, write } = place(t)
  write('a.yaml', ruleOf({ id: 'A' }))
  const cache = openRuleCache(file, 'v')
  await cache.load([rules])
  rmSync(join(rules, 'a.yaml'))
  write('moved.yaml', ruleOf({ id: 'A' }))
  t.deepEqual(
    (await cache.load([rules])).rules.map(({ filename }) => filename),
    [join(rules, 'moved.yaml')],
  )
})

test('what is not, to the bit, what this program kept is parsed anew and kept again', async t => {
  const { file, rules, write } = place(t)
  write('a.yaml', ruleOf({ id: 'A', title: 'as written' }))
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
  write('a.yaml', ruleOf({ id: 'A' }))
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

const said = ({ rules, errors }: LoadedRules<Rule>) => [titles({ rules }), errors.map(({ message }) => message)]
const HALF = 'has no tests and was changed less than 10 s ago: it may be incomplete'
const BEFORE = '; the earlier rule of the file applies'

test('a writer who rests in the middle of a file changes nothing until it is whole', async t => {
  const { file, rules, write, append } = place(t)
  const second = ruleOf({ id: 'A', title: 'second', when: 'sa_t > 30', persistence: '30m', clear: '10m' })
  for (let at = 0; at < second.length; at += 17) {
    write('a.yaml', ruleOf({ id: 'A', title: 'first' }))
    await openRuleCache(file, 'v').load([rules])
    write('a.yaml', second.slice(0, at))
    const {
      rules: [rule, ...more],
      errors,
    } = await openRuleCache(file, 'v').load([rules])
    const isSecond = rule?.title === 'second'
    t.deepEqual(more, [])
    t.is(rule?.title, isSecond ? 'second' : 'first', `after ${at} characters`)
    t.is(errors.length === 0, isSecond)
    t.true(errors.every(({ message }) => message.endsWith(BEFORE)))
    append('a.yaml', second.slice(at))
    const whole = (await openRuleCache(file, 'v').load([rules])).rules[0]
    t.is(whole?.title, 'second')
    if (isSecond) t.deepEqual({ ...rule, sha256: '' }, { ...whole, sha256: '' }, 'whole in all that acts')
  }
})

test('half a file that was not there before does not count; one without tests counts when it is left alone', async t => {
  const { file, rules, write, append, rest } = place(t)
  const load = () => openRuleCache(file, 'v').load([rules])
  write('a.yaml', yamlOf({ id: 'A', title: 'short' }))
  t.deepEqual(said(await load()), [[], [HALF]])
  rest('a.yaml')
  t.deepEqual(said(await load()), [['A short'], []])
  append('a.yaml', '\nclear: 10m')
  t.deepEqual(said(await load()), [['A short'], [HALF + BEFORE]])
  rest('a.yaml')
  t.deepEqual(said(await load()), [['A short'], []])
  write('a.yaml', '')
  t.deepEqual(said(await load()), [['A short'], [`a rule is a map of keys, such as id and when${BEFORE}`]])
  rest('a.yaml')
  t.deepEqual(said(await load()), [[], ['a rule is a map of keys, such as id and when']])
})

test('what is deployed counts at once, also without tests', async t => {
  const { file, rules } = place(t)
  const shelf = await openDeployedRules(rules)
  await shelf.change([{ filename: 'a.yaml', yaml: yamlOf({ id: 'A' }) }], [])
  t.deepEqual(said(await openRuleCache(file, 'v').load([rules])), [['A A rule'], []])
})

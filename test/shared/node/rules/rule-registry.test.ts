/** The registry over real files and the real loader, which counts how often a file is parsed. */
import test, { type ExecutionContext } from 'ava'
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogueOf, viewsOf } from '#shared/central/fdd/rule-views.ts'
import { openDeployedRules } from '#shared/central/fdd/deployed-rules.ts'
import { openRuleCache } from '#shared/node/rules/rule-cache.ts'
import { openRuleRegistry } from '#shared/node/rules/rule-registry.ts'
import { warmRule } from '../../../support/rule-texts.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

function place(t: ExecutionContext) {
  const folder = temporaryFolder(t)
  const [shipped, deployed] = [join(folder, 'shipped'), join(folder, 'deployed')]
  for (const dir of [shipped, deployed]) mkdirSync(dir)
  const cache = openRuleCache(join(folder, 'cache', 'rules.parsed'), 'v')
  let failure: Error | undefined
  const registry = openRuleRegistry({
    dirs: () => [shipped, deployed],
    read: async dirs => {
      if (failure) throw failure
      return catalogueOf(viewsOf(await cache.load(dirs)))
    },
  })
  const limits = async () => (await registry.current()).rules.map(({ id, params }) => `${id} ${params['limit']!.default}`)
  return { shipped, deployed, registry, limits, fail: (error: Error | undefined) => void (failure = error) }
}

/** A hundred readings may take less than the ticks of the clock within which a changed file is read again. */
const SETTLE_MS = 20_000

/** Reads until nothing is read any more: what changed a moment ago is read twice. */
async function settle(read: () => Promise<unknown>, reads: () => number): Promise<void> {
  for (const until = Date.now() + SETTLE_MS; Date.now() < until; ) {
    const before = reads()
    await read()
    if (reads() === before) return
  }
  throw new Error('the files are read for ever')
}

test('any number of requests read nothing while no file has changed', async t => {
  const { shipped, registry, limits } = place(t)
  for (let i = 0; i < 20; i++) writeFileSync(join(shipped, `r${i}.yaml`), warmRule(`TEST-R${i}`))
  // A file that changed within the last ticks of the clock is read again by right.
  const writtenAt = Date.now()
  while (Date.now() - writtenAt < 50) await new Promise(setImmediate)
  const together = await Promise.all(Array.from({ length: 20 }, limits))
  t.deepEqual(new Set(together.map(String)).size, 1)
  t.is(registry.reads(), 1, 'twenty at once share one reading')
  await settle(limits, registry.reads)
  const before = registry.reads()
  const known = await registry.current()
  for (let i = 0; i < 100; i++) t.is(await registry.current(), known)
  t.is(registry.reads(), before)
})

test('every way in which a file changes is seen by the next request', async t => {
  const { shipped, deployed, limits, registry } = place(t)
  const own = join(deployed, 'a.yaml')
  writeFileSync(elsewhere(deployed), warmRule('C', 55))
  const changes: [string, string[], () => unknown][] = [
    ['a first file', ['A 70'], () => writeFileSync(join(shipped, 'a.yaml'), warmRule('A', 70))],
    ['a deployed rule counts before a shipped one', ['A 61'], () => writeFileSync(own, warmRule('A', 61))],
    ['other content of the same size', ['A 62'], () => writeFileSync(own, warmRule('A', 62))],
    ['other content of the same size, and a time that is set back', ['A 63'], () => rewrite(own, 63)],
    ['other content of the same size, and the same time again', ['A 66'], () => rewrite(own, 66)],
    [
      'a file that is renamed into place with an old time',
      ['A 64'],
      () => {
        writeFileSync(`${own}.tmp`, warmRule('A', 64))
        utimesSync(`${own}.tmp`, longAgo, longAgo)
        renameSync(`${own}.tmp`, own)
      },
    ],
    [
      'a folder in the folder',
      ['A 64', 'B 50'],
      () => {
        mkdirSync(join(deployed, 'deep'))
        writeFileSync(join(deployed, 'deep', 'b.yml'), warmRule('B', 50))
      },
    ],
    ['a link to a rule elsewhere', ['A 64', 'B 50', 'C 55'], () => symlinkSync(elsewhere(deployed), join(deployed, 'c.yaml'))],
    ['the file that a link leads to', ['A 64', 'B 50', 'C 56'], () => writeFileSync(elsewhere(deployed), warmRule('C', 56))],
    ['a rule that the deployer puts', ['A 65', 'B 50', 'C 56'], async () => deploy(deployed, warmRule('A', 65))],
    ['a file that is gone', ['A 70', 'B 50', 'C 56'], () => rmSync(own)],
  ]
  for (const [what, wanted, change] of changes) {
    await settle(limits, registry.reads)
    const before = await registry.current()
    await change()
    t.deepEqual(await limits(), wanted, what)
    t.not((await registry.current()).revision, before.revision, what)
  }
})

const longAgo = new Date('2020-01-01')
function rewrite(path: string, limit: number): void {
  writeFileSync(path, warmRule('A', limit))
  utimesSync(path, longAgo, longAgo)
}
const elsewhere = (deployed: string) => join(deployed, '..', 'elsewhere.yaml')

const deploy = async (folder: string, yaml: string) =>
  (await openDeployedRules(folder)).change([{ filename: 'a.yaml', yaml }], [])

test('half a file leaves the rule in force, and is read again until it is whole', async t => {
  const { shipped, limits, registry } = place(t)
  const path = join(shipped, 'a.yaml')
  writeFileSync(path, warmRule('A', 70))
  await settle(limits, registry.reads)
  const whole = warmRule('A', 60)
  writeFileSync(path, whole.slice(0, whole.indexOf('tests:')))
  t.deepEqual(await limits(), ['A 70'], 'it checks, but its tests are not there yet')
  const before = registry.reads()
  await limits()
  t.is(registry.reads(), before + 1, 'time alone may make it count')
  writeFileSync(path, whole)
  t.deepEqual(await limits(), ['A 60'])
})

test('the same rules have the same revision, whatever happened to their files', async t => {
  const { shipped, registry, limits } = place(t)
  writeFileSync(join(shipped, 'a.yaml'), warmRule('A'))
  const { revision } = await registry.current()
  await settle(limits, registry.reads)
  const before = registry.reads()
  writeFileSync(join(shipped, 'a.yaml'), warmRule('A'))
  t.is((await registry.current()).revision, revision)
  t.true(registry.reads() > before)
})

test('a reading that fails is told and not kept', async t => {
  const { shipped, limits, fail } = place(t)
  writeFileSync(join(shipped, 'a.yaml'), warmRule('A'))
  fail(new Error('the process has ended'))
  await t.throwsAsync(limits, { message: 'the process has ended' })
  fail(undefined)
  t.deepEqual(await limits(), ['A 70'])
})

test('requests that wait for one reading go on one after the other, and let others in between', async t => {
  const gate = Promise.withResolvers<void>()
  const cache = openRuleCache(join(temporaryFolder(t), 'rules.parsed'), 'v')
  const registry = openRuleRegistry({
    dirs: () => [],
    read: async dirs => {
      await gate.promise
      return catalogueOf(viewsOf(await cache.load(dirs)))
    },
  })
  let round = 0
  let counting = true
  const count = () => {
    round++
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  const waiting = Array.from({ length: 10 }, () => registry.current().then(() => round))
  while (round < 100) await new Promise(setImmediate) // By now all of them wait.
  gate.resolve()
  const rounds = await Promise.all(waiting)
  counting = false
  t.is(registry.reads(), 1)
  t.is(new Set(rounds).size, 10, rounds.join())
})

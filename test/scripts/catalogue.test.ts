import test from 'ava'
import { basename } from 'node:path'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { suppressionCycles } from '#shared/core/rules/episodes/suppress.ts'
import { testRule } from '#shared/core/rules/testing/test-rule.ts'
import type { WrittenRule, TestCase } from '#shared/core/rules/check/rule.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { readmeOf } from '#scripts/rules-readme.ts'

const FOLDER = fileURLToPath(new URL('../../rules', import.meta.url))
const { rules, errors } = loadRules([FOLDER])

/** What every rule proves of itself: title of the demand, and which of its tests meets it. */
const DEMANDS: [string, (test: TestCase, rule: WrittenRule) => boolean][] = [
  ['a fault', ({ faults, status }) => (faults?.length ?? 0) > 0 || status === 'fault'],
  ['no fault', ({ faults, status }) => status === 'pass' || faults?.length === 0],
  ['a boundary', ({ name }) => /no fault|allowed|no movement|no heating|is plausible/.test(name)],
  ['a missing role', ({ reason, name }) => reason === 'missing_role' || /without points|may rest/.test(name)],
  ['irregular samples', ({ offsets }) => new Set(offsets.slice(1).map((at, i) => at - offsets[i]!)).size > 1],
  ['equipment off', ({ name }) => /\boff\b|runs\b|\boccupied/.test(name)],
]

test('every rule file of the catalogue checks, and no two silence each other', t => {
  t.deepEqual(errors, [])
  t.deepEqual(suppressionCycles(rules), [])
  t.true(rules.length >= 25, `${rules.length} rules`)
})

test('a title has at most 60 characters, and no two rules share one', t => {
  const titles = rules.map(({ title }) => title)
  t.deepEqual(
    titles.filter(title => title.length > 60),
    [],
  )
  t.deepEqual(
    titles.filter((title, i) => titles.indexOf(title) !== i),
    [],
  )
})

test('a file bears the id of its rule', t => {
  for (const { id, filename } of rules) t.is(basename(filename), `${id.toLowerCase()}.yaml`)
})

test('every rule says in a sentence with figures what it found, and data rules alone accuse nobody', t => {
  for (const { id, kind, program } of rules) {
    t.true(
      program.explains.some(part => typeof part !== 'string'),
      id,
    )
    t.is(program.causes.length === 0, kind === 'data', id)
  }
})

test('every rule proves a fault, no fault, a boundary, a missing role, irregular samples and equipment off', t => {
  for (const rule of rules) {
    for (const [what, meets] of DEMANDS)
      t.true(
        rule.tests.some(one => meets(one, rule)),
        `${rule.id} lacks ${what}`,
      )
  }
})

test('the tests inside the rules pass', t => {
  for (const rule of rules) {
    for (const { name, ok, problems } of testRule(rule)) t.true(ok, `${rule.id} "${name}": ${problems.join('; ')}`)
  }
})

test("the catalogue's page is what `scripts/rules readme` writes", t => {
  t.is(readFileSync(`${FOLDER}/README.md`, 'utf8'), readmeOf(rules))
})

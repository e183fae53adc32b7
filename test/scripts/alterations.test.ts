import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'ava'
import { alter, alterationsOf } from '#scripts/alterations/alterations.ts'
import { executedLines } from '#scripts/alterations/executed-lines.ts'
import { maskSource } from '#scripts/alterations/mask.ts'
import { orderTests } from '#scripts/alterations/reaching-tests.ts'
import type { Tree } from '#scripts/alterations/tree.ts'
import { drawAlterations, filesOf, tryAlteration } from '#scripts/alterations/trial.ts'

const CASES: [code: string, altered: string[]][] = [
  ['const a = b === c', ['const a = b !== c']],
  ['const a = b < 3 && c', ['const a = b <= 3 && c', 'const a = b < 3 || c', 'const a = b < 4 && c']],
  ['const LIMIT = 4 * 1024', ['const LIMIT = 4 / 1024', 'const LIMIT = 5 * 1024', 'const LIMIT = 4 * 2048']],
  ['const a = 0x100', ['const a = 512']],
  ['const a = 1e-9', []],
  ['list.sort((a, b) => (a < b ? -1 : 1))', ['list.sort((a, b) => (a <= b ? -1 : 1))', 'void 0']],
  ['const a = !b', ['const a = b']],
  ['const a = b!.c', []],
  ['const a = true', ['const a = false']],
  ['const f = () => { if (a) return b }', ['const f = () => { if (a) b }', 'const f = () => { if (!(a)) return b }']],
  ['await a.close()', ['a.close()', 'void 0']],
  ['count += 1', ['count -= 1', 'count += 2', 'void 0']],
  ['count++', ['count--', 'void 0']],
  ['const f = (a: Map<string, 1 | 2>): a is B => g(a)', []],
  ["const a = 'b < 3' // 1 && 2", []],
  ['const a = `x < 1 ${b + c} && 2`', ['const a = `x < 1 ${b - c} && 2`']],
  ['const a = /b < 3 && c/.test(d)', []],
  ["import { a } from './b1.ts'", []],
]
for (const [code, altered] of CASES) {
  test(`"${code}" can be altered in ${altered.length} ways`, t => {
    t.deepEqual(
      alterationsOf('x.ts', code).map(({ after }) => after),
      altered,
    )
  })
}

test('a part of a longer expression is not taken for a statement', t => {
  const found = alterationsOf('x.ts', 'const a = all(\n  one(2),\n  two()\n)\nf(b)\n  .then(c)\ndone()')
  t.deepEqual(
    found.filter(({ after }) => after === 'void 0').map(({ line }) => line),
    [7],
  )
})

test('the mask keeps every place, in lines with characters of two units as well', t => {
  const source = "const a = '🏢' // note\nconst b: number = a.length < 3 ? 1 : 2\n"
  const masked = maskSource(source)
  t.is(masked.length, source.length)
  t.is(masked.indexOf('<'), source.indexOf('<'))
  t.false(masked.includes('note') || masked.includes('number'))
})

test('a line is found again by its text when the file has changed above it', t => {
  const [alteration] = alterationsOf('x.ts', 'a()\nconst b = c < 1\n').filter(({ line }) => line === 2)
  t.is(alter('a()\nnew()\n  const b = c < 1\n', alteration!), 'a()\nnew()\n  const b = c <= 1\n')
  t.is(alter('a()\nconst b = d\n', alteration!), undefined)
})

test('the same seed draws the same lines in the same order, and another seed others', t => {
  const source = Array.from({ length: 40 }, (_, i) => `const a${i} = b < ${i + 100}`).join('\n')
  const draw = (seed: number) =>
    drawAlterations(name => (t.is(name, 'x.ts'), source), ['x.ts'], seed).map(({ line, after }) => `${line} ${after}`)
  t.is(new Set(draw(1).map(text => text.split(' ')[0])).size, 40)
  t.deepEqual(draw(1), draw(1))
  t.notDeepEqual(draw(1), draw(2))
})

test('tests that reach a file come in order: its namesake, the nearest, those that reach the least else', t => {
  const root = mkdtempSync(join(tmpdir(), 'plenum-reach-'))
  t.teardown(() => rmSync(root, { recursive: true }))
  for (const [file, text] of Object.entries({
    'shared/a.ts': 'export const a = 1',
    'shared/b.ts': "import { a } from './a.ts'\nexport const b = a",
    'hub/main.ts': "import { b } from '../shared/b.ts'\nb",
    'test/far.test.ts': "spawn('hub/main.ts')",
    'test/wide.test.ts': "import { a } from '../shared/a.ts'\nimport { b } from '../shared/b.ts'",
    'test/near.test.ts': "import { a } from '../shared/a.ts'",
    'test/deep/a.test.ts': "import { b } from '../../shared/b.ts'",
    'test/other.test.ts': "import type { a } from '../shared/a.ts'",
  })) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  const tests = ['far', 'wide', 'near', 'deep/a', 'other'].map(name => `test/${name}.test.ts`)
  const order = orderTests(root, tests, { 'shared/a.ts': { 1: [...tests, 'test/started.test.ts'], 2: ['test/far.test.ts'] } })
  const reached = ['deep/a', 'near', 'wide', 'far'].map(name => `test/${name}.test.ts`)
  t.deepEqual(order('shared/a.ts', 1), [...reached, 'test/other.test.ts', 'test/started.test.ts'])
  t.deepEqual(order('shared/a.ts', 2), ['test/far.test.ts'])
  t.deepEqual(order('shared/a.ts', 3), [])
  const unmeasured = orderTests(root, tests, { 'shared/a.ts': { 1: ['test/far.test.ts'] } })
  t.deepEqual(
    unmeasured('shared/a.ts', 2),
    ['deep/a', 'near', 'wide'].map(name => `test/${name}.test.ts`),
  )
  t.deepEqual(order('shared/unknown.ts', 1), [])
})

test('a line counts as executed when the innermost range that holds a part of it was', t => {
  const source = 'const f = a => {\n  if (a) b()\n  c()\n}\n\nfunction g() {\n  d()\n}\n'
  const range = (text: string, count: number) => {
    const startOffset = source.indexOf(text)
    return { startOffset, endOffset: startOffset + text.length, count }
  }
  const functions = [
    { ranges: [{ startOffset: 0, endOffset: source.length, count: 1 }] },
    { ranges: [range(source.slice(10, source.indexOf('}')), 2), range('b()', 0)] },
    { ranges: [range(source.slice(source.indexOf('function'), -1), 0)] },
  ]
  t.deepEqual(executedLines(source, functions), [1, 2, 3, 4])
})

test('the red file of a group is told from the title that AVA gives', t => {
  const group = ['test/hub/store.test.ts', 'test/appliance/store/store.test.ts', 'test/field/ede.test.ts']
  t.deepEqual(filesOf('hub › store › it is red', group), ['test/hub/store.test.ts'])
  t.deepEqual(filesOf('ede › it is red', group), ['test/field/ede.test.ts'])
  t.deepEqual(filesOf('a title', ['test/hub/store.test.ts']), ['test/hub/store.test.ts'])
  t.deepEqual(filesOf('', group), group)
})

/** A tree without files, whose tests are red as `isRed` says of the file, the altered line and how often it has run. */
function treeWith(isRed: (file: string, isAltered: boolean, run: number) => boolean): Tree & { runs: string[] } {
  const runs: string[] = []
  let isAltered = false
  return {
    root: '',
    runs,
    files: () => [],
    read: () => '',
    async altered(_, work) {
      isAltered = true
      const result = await work()
      isAltered = false
      return result
    },
    async run(command) {
      const files = command.filter(word => word.endsWith('.test.ts'))
      runs.push(`${isAltered ? 'altered' : 'as it is'}: ${files.join(' ')}`)
      const red = files.find(file => isRed(file, isAltered, runs.filter(past => past.includes(file)).length))
      const title = red && `not ok 1 - ${files.length > 1 ? `${red.slice('test/'.length, -'.test.ts'.length)} › ` : ''}it holds\n`
      return { code: red ? 1 : 0, output: title ?? '', late: false }
    },
    remove: () => undefined,
  }
}
const ONE = { file: 'shared/a.ts', line: 1, before: 'a()', after: 'void 0' }
const tried = (tree: Tree, tests: string[]) => tryAlteration(tree, ONE, { order: () => tests, testsMax: 9, baseline: new Map() })

test('a test notices an alteration when it is red twice with it and green without', async t => {
  const tree = treeWith((_, isAltered) => isAltered)
  t.like(await tried(tree, ['test/a.test.ts']), { noticed_by: { file: 'test/a.test.ts', test: 'it holds' }, tried: 1 })
  t.deepEqual(tree.runs, ['altered: test/a.test.ts', 'altered: test/a.test.ts', 'as it is: test/a.test.ts'])
})

test('a test that is red once, or without the alteration as well, notices nothing, and the next are run', async t => {
  const once = treeWith((file, _, run) => file === 'test/b.test.ts' && run === 1)
  const group = ['test/a.test.ts', 'test/b.test.ts', 'test/c.test.ts']
  t.like(await tried(once, group), { noticed_by: null, tried: 3, flaky: ['test/b.test.ts: b › it holds'] })
  t.is(once.runs.at(-1), 'altered: test/c.test.ts')
  const always = treeWith(file => file === 'test/a.test.ts')
  t.like(await tried(always, group), { noticed_by: null, flaky: ['test/a.test.ts: it holds'] })
})

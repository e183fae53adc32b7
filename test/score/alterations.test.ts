import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'ava'
import { alter, alterationsOf } from '../../scripts/lib-alter/alterations.ts'
import { maskSource } from '../../scripts/lib-alter/mask.ts'
import { orderTests } from '../../scripts/lib-alter/reaching-tests.ts'
import { drawAlterations } from '../../scripts/lib-alter/trial.ts'

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
  const order = orderTests(
    root,
    ['far', 'wide', 'near', 'deep/a', 'other'].map(name => `test/${name}.test.ts`),
  )
  t.deepEqual(
    order('shared/a.ts'),
    ['deep/a', 'near', 'wide', 'far'].map(name => `test/${name}.test.ts`),
  )
  t.deepEqual(order('shared/unknown.ts'), [])
})

import test from 'ava'
import { parseModule } from '#scripts/lib/modules.ts'
import { type AcceptedNames, checkNames, readAccepted, readModules } from '#scripts/names.ts'

const NOTHING: AcceptedNames = { siblings: {}, layers: {}, names: {}, files: {}, exports: {} }
const check = (texts: Record<string, string>, accepted: Partial<AcceptedNames> = {}) =>
  checkNames(
    Object.entries(texts).map(([file, text]) => parseModule(file, text)),
    { ...NOTHING, ...accepted },
  )
const user = (...imports: string[]) => ({ 'hub/main.ts': imports.map(each => `import ${each}`).join('\n') })

test('each name has one meaning and an importer, and no import leads back to its file', t => {
  t.deepEqual(checkNames(readModules(), readAccepted()), [])
})

test('a name that two files export is listed until it is accepted', t => {
  const texts = {
    'shared/a.ts': 'export type Span = 1',
    'shared/b.ts': 'export type Span = 2',
    ...user("type { Span } from '#shared/a.ts'", "type { Span as B } from '#shared/b.ts'"),
  }
  t.deepEqual(check(texts), ['exported more than once: Span shared/a.ts shared/b.ts'])
  t.deepEqual(check(texts, { names: { Span: 'Two spans.' } }), [])
})

test('a name may occur once in each sibling folder, and not outside of them as well', t => {
  const texts = {
    'drivers/x/p.ts': 'export const open = 1',
    'drivers/y/q.ts': 'export const open = 2',
    ...user("{ open } from '../drivers/x/p.ts'", "{ open as y } from '../drivers/y/q.ts'"),
  }
  t.is(check(texts).length, 1)
  t.deepEqual(check(texts, { siblings: { drivers: 'Closed in themselves.' } }), [])
  const outside = { ...texts, 'shared/r.ts': 'export const open = 3', 'hub/other.ts': "import { open } from '#shared/r.ts'" }
  t.is(check(outside, { siblings: { drivers: 'Closed in themselves.' } }).length, 1)
})

test('a file name that two folders have is listed, unless each is a layer', t => {
  const texts = { 'shared/core/notes.ts': '', 'shared/node/notes.ts': '' }
  t.deepEqual(check(texts), ['file name used more than once: notes.ts shared/core/notes.ts shared/node/notes.ts'])
  t.deepEqual(check(texts, { layers: { shared: 'One layer.' } }), [
    'file name used more than once: notes.ts shared/core/notes.ts shared/node/notes.ts',
  ])
  t.deepEqual(check(texts, { layers: { 'shared/core': 'The thing.', 'shared/node': 'Its storage.' } }), [])
})

test('an export that nobody imports is listed, and one that only a test imports when its own file does not use it', t => {
  t.deepEqual(check({ 'shared/a.ts': 'export const a = 1' }), ['exported for nobody: shared/a.ts: a'])
  const tested = { 'test/a.test.ts': "import { a } from '#shared/a.ts'" }
  t.deepEqual(check({ 'shared/a.ts': 'export const a = 1', ...tested }), ['exported for nobody: shared/a.ts: a'])
  t.deepEqual(check({ 'shared/a.ts': 'export const a = 1\nprint(a)', ...tested }), [])
  t.deepEqual(check({ 'shared/a.ts': 'export const a = 1', ...user("{ a } from '#shared/a.ts'") }), [])
})

test('imports of types in a circle are listed', t => {
  const texts = {
    'shared/a.ts': "import type { B } from './b.ts'\nexport type A = B",
    'shared/b.ts': "import type { A } from './a.ts'\nexport type B = A",
  }
  t.deepEqual(check(texts), ['imports in a circle: shared/a.ts -> shared/b.ts -> shared/a.ts'])
})

test('an exception that is no longer needed is listed', t => {
  t.deepEqual(check({}, { names: { Gone: 'No more.' } }), ['exception no longer needed: Gone'])
})

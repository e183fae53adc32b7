import test from 'ava'
import { isAdditive, type SchemaObject } from '#shared/core/schema-change.ts'

const object = (type: string, name: string, sql: string, tbl_name = name): SchemaObject => ({ type, name, tbl_name, sql })
const table = (sql: string, name = 't') => object('table', name, sql)
const T = table('CREATE TABLE t (a INTEGER NOT NULL, b TEXT) STRICT')
const on = (type: 'index' | 'trigger', sql: string) => object(type, 'x', sql, 't')

test('what only grows can be used by a version that knows less of it, and nothing else', t => {
  const cases: [string, SchemaObject[], SchemaObject[], boolean][] = [
    ['nothing', [T], [T], true],
    ['a table', [T], [T, table('CREATE TABLE u (a NOT NULL UNIQUE)', 'u')], true],
    [
      'a unique index of a new table',
      [T],
      [T, table('CREATE TABLE u (a)', 'u'), object('index', 'i', 'CREATE UNIQUE INDEX i ON u (a)', 'u')],
      true,
    ],
    ['a column', [T], [table('CREATE TABLE t (a INTEGER NOT NULL, b TEXT, c TEXT) STRICT')], true],
    [
      'a column with a default',
      [T],
      [table('CREATE TABLE t (a INTEGER NOT NULL, b TEXT, c INTEGER NOT NULL DEFAULT 0 CHECK (c IN (0, 1))) STRICT')],
      true,
    ],
    ['an index', [T], [T, on('index', 'CREATE INDEX x ON t (a)')], true],
    ['a trigger', [T], [T, on('trigger', 'CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM u; END')], true],
    ['a column that must be given', [T], [table('CREATE TABLE t (a INTEGER NOT NULL, b TEXT, c TEXT NOT NULL) STRICT')], false],
    ['a unique column', [T], [table('CREATE TABLE t (a INTEGER NOT NULL, b TEXT, c TEXT UNIQUE) STRICT')], false],
    ['a column less', [T], [table('CREATE TABLE t (a INTEGER NOT NULL) STRICT')], false],
    ['a column of another name', [T], [table('CREATE TABLE t (a INTEGER NOT NULL, bb TEXT) STRICT')], false],
    ['another kind of table', [T], [table('CREATE TABLE t (a INTEGER NOT NULL, b TEXT)')], false],
    ['a table less', [T], [], false],
    ['a unique index', [T], [T, on('index', 'CREATE UNIQUE INDEX x ON t (a)')], false],
    [
      'a trigger that refuses',
      [T],
      [T, on('trigger', "CREATE TRIGGER x BEFORE INSERT ON t BEGIN SELECT RAISE(ABORT, 'no'); END")],
      false,
    ],
    ['another trigger', [T, on('trigger', 'one')], [T, on('trigger', 'two')], false],
    ['a view of another content', [object('view', 'v', 'one')], [object('view', 'v', 'two')], false],
  ]
  for (const [name, before, after, wanted] of cases) t.is(isAdditive(before, after), wanted, name)
})

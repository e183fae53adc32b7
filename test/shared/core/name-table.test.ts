import test from 'ava'
import { roleOf, ROLES } from '#shared/core/model/role.ts'
import { conversion, UNITS } from '#shared/core/model/unit.ts'
import { nameTable } from '#shared/core/name-table.ts'

const INHERITED = ['valueOf', 'constructor', 'toString', '__proto__', 'hasOwnProperty']

test('a table has its own names and none that every object has', t => {
  const table = nameTable({ one: 1 })
  t.is(table['one'], 1)
  for (const name of INHERITED) t.is(table[name], undefined, name)
})

test('roles and units with names that every object has are unknown', t => {
  for (const name of INHERITED) {
    t.deepEqual(
      [ROLES[name], roleOf(name), UNITS[name], conversion(name, 'degC')],
      [undefined, undefined, undefined, undefined],
      name,
    )
  }
})

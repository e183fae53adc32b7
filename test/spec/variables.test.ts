/** Each variable of the specification: its default, values at its bounds, and values beyond them. */
import test from 'ava'
import { readEnv, type VariableTable } from '#shared/core/env.ts'
import { titleOf } from './rows.ts'
import { TABLES, VARIABLES } from './variables.ts'

type Component = keyof typeof TABLES
const read = (component: Component, env: Record<string, string> = {}) =>
  readEnv(TABLES[component] as VariableTable, { env }, () => '')

for (const { name, defaults, accepted = ['something'], refused = [] } of VARIABLES) {
  test(titleOf(name), t => {
    for (const [component, wanted] of Object.entries(defaults) as [Component, unknown][]) {
      const empty = read(component)
      t.true(empty.ok, component)
      t.is(empty.ok ? empty.settings[name] : undefined, wanted as never, component)
      for (const value of accepted) {
        const result = read(component, { [name]: value })
        t.true(result.ok, `${component} ${name}=${value}`)
        const set = result.ok && result.effective.find(one => one.name === name)
        t.like(set, { source: 'environment' })
      }
      for (const value of refused) {
        const result = read(component, { [name]: value })
        t.false(result.ok, `${component} ${name}=${value}`)
        if (!result.ok) t.true(result.complaints.length === 1 && result.complaints[0]!.startsWith(`${name}: `))
      }
    }
  })
}

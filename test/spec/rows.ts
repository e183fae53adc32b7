/** The rows of the specification, numbered over all of its parts: a run of the tests counts by these titles how many hold. */
import { CONDITIONS } from './conditions.ts'
import { ENDPOINTS } from './endpoints.ts'
import { STATEMENTS } from './statements.ts'
import { VARIABLES } from './variables.ts'

export const ROWS: string[] = [
  ...ENDPOINTS.map(({ method, path }) => `${method} ${path}`),
  ...VARIABLES.map(({ name }) => name),
  ...CONDITIONS,
  ...STATEMENTS.map(({ text }) => text),
]

/** Title of the test that shows a row. `scripts/lib/tap.ts` reads it. */
export function titleOf(row: string): string {
  const index = ROWS.indexOf(row)
  if (index === -1) throw new Error(`no row of the specification: ${row}`)
  return `row ${index + 1} of ${ROWS.length}: ${row}`
}

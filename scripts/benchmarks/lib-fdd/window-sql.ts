/** The functions of time in SQL, over a table with one row a minute and no row missing. */
import type { CompiledRule } from '#shared/core/rules/compile/compile-rule.ts'

/** An expression, and the layer of window columns that it belongs to: a window over a window needs a layer of its own. */
export type Sql = { text: string; layer: number }

export type Translator = {
  instance: CompiledRule
  /** Roles that the table has. */
  roles: readonly string[]
  /** Makes a column of a window over something in `layer`. */
  column(text: string, layer: number): Sql
}

/** Share of a window that must be known before its figure counts, as in the engine. */
const COVERAGE = 0.8

const over = (first: number, last: number) =>
  `OVER (ORDER BY ts ROWS BETWEEN ${first} PRECEDING AND ${last === 0 ? 'CURRENT ROW' : `${last} PRECEDING`})`

/**
 * A row's value holds until the next row, so that a mean over the n minutes before an instant is one over the n rows
 * before it, while an extreme or an event counts the row of the instant itself too.
 *
 * @param x a condition for held, settled and duty; else a number
 * @throws Error for a function that goes from row to row with a state
 */
export function windowSql(op: string, x: Sql, n: number, { column }: Translator): Sql {
  const make = (text: string) => column(text, x.layer)
  const known = `count(${x.text}) ${over(n, 1)} >= ${COVERAGE * n} AND ${x.text} IS NOT NULL`
  const covered = (text: string) => make(`CASE WHEN ${known} THEN ${text} END`)
  const event = (test: string) => {
    const happened = column(`CASE WHEN ${test} THEN 1 ELSE 0 END`, x.layer)
    return column(`CASE WHEN ${x.text} IS NOT NULL THEN sum(${happened.text}) ${over(n - 1, 0)} END`, happened.layer)
  }
  switch (op) {
    case 'avg':
      return covered(`avg(${x.text}) ${over(n, 1)}`)
    case 'duty':
      return covered(`avg(CAST(${x.text} AS DOUBLE)) ${over(n, 1)}`)
    case 'min':
    case 'max':
      return covered(`${op}(${x.text}) ${over(n, 0)}`)
    case 'range':
      return covered(`max(${x.text}) ${over(n, 0)} - min(${x.text}) ${over(n, 0)}`)
    case 'median':
      return covered(`median(${x.text}) ${over(n - 1, 0)}`)
    case 'lag':
      return make(`lag(${x.text}, ${n}) OVER (ORDER BY ts)`)
    case 'delta':
      return make(`${x.text} - lag(${x.text}, ${n}) OVER (ORDER BY ts)`)
    case 'changes':
      return event(`${x.text} <> lag(${x.text}) OVER (ORDER BY ts)`)
    case 'starts':
      return event(`${x.text} = 1 AND lag(${x.text}) OVER (ORDER BY ts) = 0`)
    case 'coverage':
      return make(`CASE WHEN count(*) ${over(n, 1)} = ${n} THEN count(${x.text}) ${over(n, 1)} / ${n}.0 END`)
    case 'held':
      return make(
        `CASE WHEN NOT ${x.text} THEN FALSE WHEN bool_and(${x.text}) ${over(n, 0)} AND count(${x.text}) ${over(n, 0)} = ${n + 1} THEN TRUE
         WHEN NOT bool_and(${x.text}) ${over(n, 0)} AND ${x.text} THEN FALSE END`,
      )
    case 'settled':
      return make(`coalesce(bool_and(${x.text}) ${over(n, 0)}, FALSE) AND count(${x.text}) ${over(n, 0)} = ${n + 1}`)
    default:
      throw new Error(`${op} goes from row to row with a state`)
  }
}

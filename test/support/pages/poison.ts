/** Texts that would become markup where a page does not escape them. */
import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import type { Html } from '#shared/node/http/html.ts'

/** Breaks out of text, of a quoted attribute and of an address, unless it is escaped. */
const POISON = `"'><x-poison onload=x>&`
const hostile = fc.tuple(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 })).map(([a, b]) => `${a}${POISON}${b}`)

/** Whether a page shows the text, and shows it as text. */
export function noPoison(t: ExecutionContext, render: (text: string) => Html) {
  const property = fc.property(hostile, text => {
    const out = render(text).text
    return out.includes('x-poison') && !out.includes('<x-poison') && !/["']{2}(>|&gt;)<?x/.test(out)
  })
  t.notThrows(() => fc.assert(property, { numRuns: 25 }))
}

/** Whatever body a route gets, it answers in time with a problem document or a result, and shows nothing of its inside. */
import test from 'ava'
import fc from 'fast-check'
import { PROBLEMS } from '#shared/core/problem.ts'
import type { Route } from '#shared/node/http/route.ts'
import { airHandler, rows, table, zipForm, zipOf } from '../support/packages/packages.ts'
import { warmRule } from '../support/rule-texts.ts'
import { timesOf } from '../support/optional.ts'
import { bodyText } from './json-body.ts'
import { openSpecHub, pathOf, type Send, sharedEnds, tokenOf } from './spec-site.ts'

const ends = sharedEnds()
test.after.always(ends.end)

/** Bodies over all routes together. */
const BODIES = timesOf(4000, 200_000)
/** Far beyond what a busy machine needs for one answer. */
const HANG_MS = 60_000
/** They end the session that asks; tests of their own send them bad bodies. */
const LEFT_OUT = ['/api/auth/logout', '/api/auth/logout-everywhere']
/** A good body costs them a tenth of a second or more: a hash of a password, or a run. They get fewer. */
const COSTLY = [
  '/api/auth/login',
  '/api/users',
  '/api/users/:username/reset-password',
  '/api/fdd/run',
  '/api/fdd/backtest',
  '/api/backup',
]
const COSTLY_BODIES = timesOf(30, 100)
/** What only a stack or a path of the program has. */
const STACK = /\bat \S+ \(|node:internal|\.ts:\d+|node_modules/

async function fill(send: Send, token: string): Promise<void> {
  const csv = table(rows(288, Date.UTC(2026, 2, 1)))
  const { body } = await send('POST', '/api/csv/import/preflight', { token, body: zipForm(await zipOf(airHandler(csv))) })
  await send('POST', '/api/csv/import/execute', { token, body: { session_id: body.session_id, confirm: true } })
  const rules = [{ filename: 'warm.yaml', yaml: warmRule('TEST-WARM', 50) }]
  await send('POST', '/api/rules/batch', { token, body: { confirm: true, rules } })
}

test(`${BODIES} bodies, valid and broken, are each answered with a result or a problem`, async t => {
  t.timeout(30 * 60_000)
  const { send, routes } = await openSpecHub(ends)
  const token = await tokenOf(send, 'admin')
  await fill(send, token)
  const takesBody = ({ method, path, body, takes = 'json' }: Route) =>
    method !== 'GET' && body !== undefined && takes === 'json' && path.startsWith('/api/') && !LEFT_OUT.includes(path)
  const asked = routes.filter(takesBody)
  t.true(asked.length > 30, String(asked.length))
  const perRoute = Math.ceil((BODIES - COSTLY.length * COSTLY_BODIES) / (asked.length - COSTLY.length))
  const counts = { results: 0, problems: 0 }
  for (const route of asked) {
    const property = fc.asyncProperty(
      bodyText(route.body!),
      fc.constantFrom('b1', 'TEST-WARM', 'x', '%00'),
      async (body, value) => {
        const [method, path] = [route.method, pathOf(route, value)]
        const late = AbortSignal.timeout(HANG_MS)
        const { status, text } = await send(method, path, { token, body, type: 'application/json', signal: late })
        const what = `${method} ${path} ${body.slice(0, 500)} -> ${status} ${text.slice(0, 500)}`
        if (STACK.test(text)) throw new Error(`shows its inside: ${what}`)
        if (status < 400) return void counts.results++
        const { code } = JSON.parse(text)
        if (PROBLEMS[code as keyof typeof PROBLEMS]?.status !== status || status >= 500) throw new Error(what)
        counts.problems++
      },
    )
    await fc.assert(property, { numRuns: COSTLY.includes(route.path) ? COSTLY_BODIES : perRoute })
  }
  t.log(`${counts.results} results, ${counts.problems} problems`)
  t.true(counts.results > BODIES / 20 && counts.problems > BODIES / 4, JSON.stringify(counts))
})

/** Each endpoint of the specification answers on a hub as it is installed, for the least caller that may ask it. */
import test from 'ava'
import { ENDPOINTS, type Past } from './endpoints.ts'
import { titleOf } from './rows.ts'
import { API_KEY, openSpecHub, sharedEnds, tokenOf } from './spec-site.ts'

const ends = sharedEnds()
let hub: Awaited<ReturnType<typeof openSpecHub>>
const tokens = { public: undefined as string | undefined, viewer: '', operator: '', admin: '', key: API_KEY }
test.before(async () => {
  hub = await openSpecHub(ends)
  tokens.viewer = await tokenOf(hub.send, 'viewer')
  tokens.operator = await tokenOf(hub.send, 'agent')
  tokens.admin = await tokenOf(hub.send, 'admin')
})
test.after.always(ends.end)

const past = new Map<string, any>()
for (const endpoint of ENDPOINTS) {
  const { method, path, need, at = {}, body, type, status = 200, fields } = endpoint
  test.serial(titleOf(`${method} ${path}`), async t => {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => at.params![name]!)
    const query = at.query ? `?${new URLSearchParams(at.query)}` : ''
    const sent = { token: tokens[need], ...(body && { body: await body(past as Past) }), ...(type && { type }) }
    const answer = await hub.send(method, filled + query, sent)
    t.is(answer.status, status, answer.text)
    for (const field of fields) t.true(field in answer.body, `${field} in ${answer.text.slice(0, 2000)}`)
    past.set(`${method} ${path}`, answer.body)
  })
}

/** Who may ask at all, and with which token: every route is tried with each of them. */
import { type Send, signToken, tokenOf, unsignedToken } from './spec-site.ts'

const RANK = { viewer: 1, operator: 2, admin: 3 }
type Role = keyof typeof RANK
export type Need = Role | 'public' | 'edge'
/** `role` is what the token says, if it is good. */
export type Caller = { name: string; token: string | undefined; role: Role | 'edge' | undefined }

/** Nobody, five tokens that are not good, and the good ones of each role. */
export async function callersOf(send: Send): Promise<Caller[]> {
  const admin = await tokenOf(send, 'admin')
  const minted = (await send('POST', '/api/auth/agent-token', { token: admin })).body.token as string
  return [
    { name: 'nobody', token: undefined, role: undefined },
    { name: 'an expired token', token: await signToken({ lastsSecs: -30 }), role: undefined },
    { name: 'a token of another secret', token: await signToken({ secret: 'f'.repeat(40) }), role: undefined },
    { name: 'an unsigned token', token: unsignedToken(), role: undefined },
    { name: 'a token for another audience', token: await signToken({ aud: 'another-api' }), role: undefined },
    { name: 'viewer', token: await tokenOf(send, 'viewer'), role: 'viewer' },
    { name: 'operator', token: await tokenOf(send, 'agent'), role: 'operator' },
    { name: 'admin', token: admin, role: 'admin' },
    { name: 'an edge', token: await signToken({ role: 'edge', sub: 'e1' }), role: 'edge' },
    { name: 'an agent', token: minted, role: 'operator' },
  ]
}

type Verdict = 'its answer' | 'unauthenticated' | 'forbidden'

/** What the specification grants a caller on a route. */
export function verdictFor(need: Need, { role }: Pick<Caller, 'role'>): Verdict {
  if (need === 'public') return 'its answer'
  if (role === undefined) return 'unauthenticated'
  if (need === 'edge' || role === 'edge') return need === role ? 'its answer' : 'forbidden'
  return RANK[role] >= RANK[need] ? 'its answer' : 'forbidden'
}

/** A body that each kind of route refuses before it does anything. */
const PROBES = {
  json: { body: '{"broken', type: 'application/json' },
  form: { body: 'x', type: 'application/x-www-form-urlencoded' },
  yaml: { body: '%broken: [', type: 'application/yaml' },
  upload: { body: '--x--', type: 'multipart/form-data; boundary=x' },
}
type Asked = { method: string; path: string; takes?: keyof typeof PROBES | undefined; hasBody?: boolean }

/** Asks a route as a caller. A form without its session's token is refused after the role is checked, with words of its own. */
export async function verdictOf(send: Send, { method, path, takes = 'json', hasBody }: Asked, caller: Caller): Promise<Verdict> {
  const { status, text } = await send(method, path, { token: caller.token, ...(hasBody && PROBES[takes]) })
  if (status === 401) return 'unauthenticated'
  return status === 403 && !text.includes('The form is not from this session') ? 'forbidden' : 'its answer'
}

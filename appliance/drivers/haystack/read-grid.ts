/** Reads the grid of an HTTP response, or explains the failure and what to do about it. */
import type { HaystackAuth } from './core/endpoint.ts'
import { HaystackFailure } from './core/failure.ts'
import { errorOf, type Grid } from './core/grid.ts'
import { decodeGrid, formatOf } from './codec.ts'
import type { Answer } from './exchange.ts'

const UNAUTHORIZED = 401
const FORBIDDEN = 403

export const isRedirect = ({ status }: Answer): boolean => status >= 300 && status < 400

type Asked = { endpoint: URL; auth: HaystackAuth }

/** @throws HaystackFailure when the answer holds no grid, or one that says what went wrong */
export function readGrid(answer: Answer, op: string, server: Asked): Grid {
  const { status, headers, body } = answer
  const type = headers['content-type'] ?? ''
  const format = formatOf(type)
  if (status !== 200 && (status === UNAUTHORIZED || status === FORBIDDEN || isRedirect(answer) || !format)) {
    throw statusFailure(answer, op, server)
  }
  if (!format) {
    throw new HaystackFailure(`${op} is answered with ${type || 'no content type'}, which is no grid`, {
      step: 'op',
      advice: 'check the path of the endpoint, mostly /api/ and the name of the project: this looks like a page for people',
    })
  }
  const grid = decodeGrid(body, format)
  if (typeof grid === 'string') {
    if (status !== 200) throw statusFailure(answer, op, server)
    throw new HaystackFailure(`${op}: ${grid}`, { step: 'parse' })
  }
  const error = errorOf(grid)
  if (error !== undefined) throw new HaystackFailure(`${op}: ${error}`, { step: 'op', status })
  if (status !== 200) throw statusFailure(answer, op, server)
  return grid
}

function statusFailure(answer: Answer, op: string, { auth, endpoint }: Asked): HaystackFailure {
  const { status, headers } = answer
  if (status === UNAUTHORIZED) {
    const advice =
      auth === 'basic' || auth === 'scram' ? 'check user name and password' : 'check the API key, and that auth names its kind'
    return new HaystackFailure(`${op}: the server does not let us in (401)`, { step: 'auth', status, advice })
  }
  if (status === FORBIDDEN) {
    const advice = 'give the account the right to read'
    // After a login it is the question that is refused, else it may be the key.
    const step = auth === 'scram' ? 'op' : 'auth'
    return new HaystackFailure(`${op}: the account may not do this (403)`, { step, status, advice })
  }
  if (isRedirect(answer)) {
    const target = headers.location ?? ''
    const to = URL.canParse(target, endpoint.href) ? new URL(target, endpoint) : undefined
    const where = to ? `${to.origin}${to.pathname}` : 'nowhere'
    const advice =
      to && /login/i.test(to.pathname)
        ? 'the server wants a login: check auth, user name and password'
        : 'redirects are not followed, so that no key goes elsewhere; write the right address into the endpoint'
    return new HaystackFailure(`${op} is redirected to ${where}`, { step: 'op', status, advice })
  }
  const advice = status === 404 ? 'check the path of the endpoint, mostly /api/ and the name of the project' : undefined
  return new HaystackFailure(`${op} is answered with status ${status}`, { step: 'op', status, advice })
}

/** Reads the grid of an HTTP response, or throws a failure with advice. */
import type { HaystackAuth } from './core/address.ts'
import { HaystackFailure } from './core/failure.ts'
import { errorOf, type Grid } from './core/grid.ts'
import { decodeGrid, formatOf } from './codec.ts'
import type { HttpAnswer } from './exchange.ts'

const UNAUTHORIZED = 401
const FORBIDDEN = 403

type Login = { endpoint: URL; auth: HaystackAuth }

export const isRedirect = ({ status }: HttpAnswer): boolean => status >= 300 && status < 400

/** @throws HaystackFailure when the answer holds no grid, or an error grid */
export function readGrid(answer: HttpAnswer, op: string, server: Login): Grid {
  const { status, headers, body } = answer
  const type = headers['content-type'] ?? ''
  const format = formatOf(type)
  if (status !== 200 && (status === UNAUTHORIZED || status === FORBIDDEN || isRedirect(answer) || !format)) {
    throw statusFailure(answer, op, server)
  }
  if (!format) {
    throw new HaystackFailure(`${op} was answered with ${type || 'no content type'}, which is not a grid`, {
      step: 'op',
      advice: 'check the path of the endpoint, usually /api/ and the name of the project: the answer looks like a web page',
    })
  }
  const grid = decodeGrid(body, format, type)
  if (typeof grid === 'string') {
    if (status !== 200) throw statusFailure(answer, op, server)
    throw new HaystackFailure(`${op}: ${grid}`, { step: 'parse' })
  }
  const error = errorOf(grid)
  if (error !== undefined) throw new HaystackFailure(`${op}: ${error}`, { step: 'op', status })
  if (status !== 200) throw statusFailure(answer, op, server)
  return grid
}

function statusFailure(answer: HttpAnswer, op: string, { auth, endpoint }: Login): HaystackFailure {
  const { status, headers } = answer
  if (status === UNAUTHORIZED) {
    const advice =
      auth === 'basic' || auth === 'scram'
        ? 'check user name and password'
        : 'check the API key, and that auth names the right kind of key'
    return new HaystackFailure(`${op}: the server refuses the login (401)`, { step: 'auth', status, advice })
  }
  if (status === FORBIDDEN) {
    const advice = 'give the account read access'
    // After a login the request itself is refused; without one the key may be wrong.
    const step = auth === 'scram' ? 'op' : 'auth'
    return new HaystackFailure(`${op}: the account has no access (403)`, { step, status, advice })
  }
  if (isRedirect(answer)) {
    const target = headers.location ?? ''
    const to = URL.canParse(target, endpoint.href) ? new URL(target, endpoint) : undefined
    const where = to ? `${to.origin}${to.pathname}` : 'an invalid address'
    const advice =
      to && /login/i.test(to.pathname)
        ? 'the server wants a login: check auth, user name and password'
        : 'redirects are not followed, so that the key is sent to no other server; correct the address in the endpoint'
    return new HaystackFailure(`${op} was redirected to ${where}`, { step: 'op', status, advice })
  }
  const advice = status === 404 ? 'check the path of the endpoint, usually /api/ and the name of the project' : undefined
  return new HaystackFailure(`${op} was answered with status ${status}`, { step: 'op', status, advice })
}

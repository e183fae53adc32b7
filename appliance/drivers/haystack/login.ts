/** SCRAM login over HTTP as Project Haystack defines it: HELLO, two messages in each direction, and a token for later requests. */
import { pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { type Challenge, decodeData, encodeData, parseChallenges, parseParams } from './core/headers.ts'
import { HaystackFailure } from './core/failure.ts'
import { checkServerFinal, clientFinal, clientFirst, readServerFirst, SCRAM_HASH, SCRAM_KEY_BYTES } from './core/scram.ts'
import { formatOf } from './codec.ts'
import type { HttpAnswer } from './exchange.ts'

/** Sends `GET about` with an `Authorization` header. */
type Ask = (authorization: string, step: 'hello' | 'auth') => Promise<HttpAnswer>

const NONCE_BYTES = 18
const derive = promisify(pbkdf2)
const CREDENTIALS = 'check user name and password; the account may also be locked'

/**
 * @returns the token for later requests
 * @throws HaystackFailure at step hello (the server has no such login) or auth (it refuses, or cannot prove that it knows the
 *   password)
 */
export async function logIn(ask: Ask, username: string, password: string): Promise<string> {
  const hello = await ask(`HELLO username=${encodeData(username)}`, 'hello')
  const greeting = scramChallenge(hello)
  const nonce = randomBytes(NONCE_BYTES).toString('base64url')
  const first = clientFirst(username, nonce)

  const answer = await ask(scram(greeting.params.handshaketoken, first.message), 'auth')
  const challenge = challengesOf(answer).find(({ scheme }) => scheme === 'scram')
  if (answer.status !== 401 || challenge?.params.data === undefined) {
    throw refusedLogin(answer, 'the server did not continue SCRAM after the first message')
  }
  const server = readServerFirst(decodeData(challenge.params.data), nonce)
  if (typeof server === 'string') throw new HaystackFailure(server, { step: 'auth', status: answer.status })
  const salted = await derive(password, server.salt, server.iterations, SCRAM_KEY_BYTES, SCRAM_HASH)

  const { message, signature } = clientFinal(first.bare, server, salted)
  const handshakeToken = challenge.params.handshaketoken ?? greeting.params.handshaketoken
  const last = await ask(scram(handshakeToken, message), 'auth')
  if (last.status !== 200) throw refusedLogin(last, 'the server refuses user name or password')
  const { authtoken, data } = parseParams(headerOf(last, 'authentication-info'))
  const objection = checkServerFinal(decodeData(data ?? ''), signature)
  if (objection !== undefined) {
    throw new HaystackFailure(objection, {
      step: 'auth',
      status: last.status,
      advice: 'the endpoint may belong to another server than expected',
    })
  }
  if (!authtoken) throw new HaystackFailure('the login ended without a token', { step: 'auth', status: last.status })
  return authtoken
}

function scram(handshakeToken: string | undefined, message: string): string {
  const token = handshakeToken === undefined ? '' : `handshakeToken=${handshakeToken}, `
  return `SCRAM ${token}data=${encodeData(message)}`
}

function scramChallenge(hello: HttpAnswer): Challenge {
  const challenges = challengesOf(hello)
  const found = challenges.find(({ scheme }) => scheme === 'scram')
  if (hello.status === 401 && found) {
    const { hash = 'SHA-256' } = found.params
    if (hash.toUpperCase() === 'SHA-256') return found
    throw new HaystackFailure(`the server requires SCRAM with ${hash}; only SHA-256 is supported`, { step: 'hello' })
  }
  if (hello.status === 403) throw refusedLogin(hello, 'the server refuses the user name')
  const offers = challenges.map(({ scheme }) => scheme).join(', ')
  throw new HaystackFailure(
    offers ? `the server offers ${offers}, not SCRAM` : `the server answered HELLO with status ${hello.status}, not with SCRAM`,
    { step: 'hello', status: hello.status, advice: adviceFor(hello, offers) },
  )
}

function adviceFor({ status, headers }: HttpAnswer, offers: string): string {
  if (status === 200 && formatOf(headers['content-type'] ?? '')) {
    return 'the server asks for no login: set auth to bearer in the catalogue, and SERVICE_HAYSTACK_API_KEY to any word'
  }
  if (offers.includes('plaintext')) return 'passwords are not sent in plain text; give the user SCRAM on the server'
  if (offers.includes('basic')) return 'set auth to basic in the catalogue'
  if (offers.includes('bearer')) return 'set auth to bearer or bearer-haystack in the catalogue'
  return 'check the path of the endpoint, usually /api/ and the name of the project; older servers use auth basic'
}

function refusedLogin(answer: HttpAnswer, says: string): HaystackFailure {
  const { status } = answer
  const isRefused = status === 401 || status === 403
  return new HaystackFailure(`${says} (${status})`, { step: 'auth', status, advice: isRefused ? CREDENTIALS : undefined })
}

const headerOf = ({ headers }: HttpAnswer, name: string): string => [headers[name] ?? ''].flat().join(', ')
const challengesOf = (answer: HttpAnswer): Challenge[] => parseChallenges(headerOf(answer, 'www-authenticate'))

/** SCRAM login as Project Haystack carries it over HTTP: HELLO, two messages each way, and a token for what follows. */
import { pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { type Challenge, decodeData, encodeData, parseChallenges, parseParams } from './core/auth-header.ts'
import { HaystackFailure } from './core/failure.ts'
import { checkServerFinal, clientFinal, clientFirst, readServerFirst, SCRAM_HASH, SCRAM_KEY_BYTES } from './core/scram.ts'
import type { Answer } from './exchange.ts'

/** Sends `GET about` with an `Authorization` header. */
type Ask = (authorization: string, step: 'hello' | 'auth') => Promise<Answer>

const NONCE_BYTES = 18
const derive = promisify(pbkdf2)
const CREDENTIALS = 'check user name and password; the account may also be locked'

/**
 * @returns the token that opens what follows
 * @throws HaystackFailure at step hello (the server does not do this) or auth (it refuses, or is not who it should be)
 */
export async function logIn(ask: Ask, username: string, password: string): Promise<string> {
  const hello = await ask(`HELLO username=${encodeData(username)}`, 'hello')
  const greeting = scramChallenge(hello)
  const nonce = randomBytes(NONCE_BYTES).toString('base64url')
  const first = clientFirst(username, nonce)

  const answer = await ask(scram(greeting.params.handshakeToken, first.message), 'auth')
  const challenge = challengesOf(answer).find(({ scheme }) => scheme === 'scram')
  if (answer.status !== 401 || challenge?.params.data === undefined) {
    throw refusal(answer, 'the server did not go on with SCRAM after the first message')
  }
  const server = readServerFirst(decodeData(challenge.params.data), nonce)
  if (typeof server === 'string') throw new HaystackFailure(server, { step: 'auth' })
  const salted = await derive(password, server.salt, server.iterations, SCRAM_KEY_BYTES, SCRAM_HASH)

  const { message, signature } = clientFinal(first.bare, server, salted)
  const handshakeToken = challenge.params.handshakeToken ?? greeting.params.handshakeToken
  const last = await ask(scram(handshakeToken, message), 'auth')
  if (last.status !== 200) throw refusal(last, 'the server refuses user name or password')
  const { authToken, data } = parseParams(headerOf(last, 'authentication-info'))
  const doubt = checkServerFinal(decodeData(data ?? ''), signature)
  if (doubt !== undefined) {
    throw new HaystackFailure(doubt, { step: 'auth', advice: 'the endpoint may lead to another server than it should' })
  }
  if (!authToken) throw new HaystackFailure('the login ends without a token', { step: 'auth' })
  return authToken
}

function scram(handshakeToken: string | undefined, message: string): string {
  const token = handshakeToken === undefined ? '' : `handshakeToken=${handshakeToken}, `
  return `SCRAM ${token}data=${encodeData(message)}`
}

function scramChallenge(hello: Answer): Challenge {
  const challenges = challengesOf(hello)
  const found = challenges.find(({ scheme }) => scheme === 'scram')
  if (hello.status === 401 && found) {
    const { hash = 'SHA-256' } = found.params
    if (hash.toUpperCase() === 'SHA-256') return found
    throw new HaystackFailure(`the server wants SCRAM with ${hash}; SHA-256 is what can be done`, { step: 'hello' })
  }
  if (hello.status === 403) throw refusal(hello, 'the server refuses the user name')
  const offers = challenges.map(({ scheme }) => scheme).join(', ')
  throw new HaystackFailure(
    offers ? `the server offers ${offers}, not SCRAM` : `the server answers HELLO with ${hello.status}, not with SCRAM`,
    { step: 'hello', status: hello.status, advice: adviceFor(offers) },
  )
}

function adviceFor(offers: string): string {
  if (offers.includes('basic')) return 'set auth to basic in the catalogue'
  if (offers.includes('bearer')) return 'set auth to bearer or bearer-haystack in the catalogue'
  return 'check the path of the endpoint, mostly /api/ and the name of the project; older servers take auth basic'
}

function refusal(answer: Answer, says: string): HaystackFailure {
  const { status } = answer
  const isRefused = status === 401 || status === 403
  return new HaystackFailure(`${says} (${status})`, { step: 'auth', status, advice: isRefused ? CREDENTIALS : undefined })
}

const headerOf = ({ headers }: Answer, name: string): string => [headers[name] ?? ''].flat().join(', ')
const challengesOf = (answer: Answer): Challenge[] => parseChallenges(headerOf(answer, 'www-authenticate'))

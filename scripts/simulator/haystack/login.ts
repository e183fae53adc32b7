/** Login of the simulated Haystack server: the server side of SCRAM-SHA-256, basic, and keys. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

export type SimAuth = 'scram' | 'basic' | 'bearer' | 'bearer-haystack'
export type SimLoginFault =
  | 'none'
  /** The server does not know the password and accepts any. */
  | 'wrong signature'
  | 'wrong nonce'
  | 'few iterations'
  | 'sha-512'
  | 'basic only'
  | 'no token'
  | 'hello 200'
  | 'stops after first'
  /** The server is being started: it answers the first message with status 503. */
  | 'not ready'
  /** Names of schemes and parameters are in capitals, with spaces around. */
  | 'capitals'
  | 'plaintext only'
  /** The server asks for no login. */
  | 'anonymous'

export type SimAccount = { username: string; password: string }
type Handshake = { bare: string; first: string; nonce: string }

const SALT = Buffer.from('plenum-sim-salt')
const ITERATIONS = 10_000

const text64 = (data: string) => Buffer.from(data, 'base64url').toString()
const data64 = (text: string) => Buffer.from(text).toString('base64url')
const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()

export function simLogin(auth: SimAuth, account: SimAccount, needsCookie: boolean) {
  const handshakes = new Map<string, Handshake>()
  const tokens = new Set<string>()
  let fault: SimLoginFault = 'none'
  let logins = 0

  /** @returns whether the request is authenticated; when it is not, the answer has been sent */
  function admit(request: IncomingMessage, response: ServerResponse): boolean {
    const header = request.headers.authorization ?? ''
    if (fault === 'anonymous') return true
    if (auth === 'basic')
      return (
        header === `Basic ${Buffer.from(`${account.username}:${account.password}`).toString('base64')}` ||
        refuse(response, 'Basic realm="sim"')
      )
    if (auth === 'bearer') return header === `Bearer ${account.password}` || refuse(response, 'Bearer')
    if (auth === 'bearer-haystack') return header === `BEARER authToken=${account.password}` || refuse(response, 'bearer')
    const token = /^BEARER authToken=(.+)$/.exec(header)?.[1]
    const hasCookie = !needsCookie || /session=s1/.test(request.headers.cookie ?? '')
    if (token !== undefined) return (tokens.has(token) && hasCookie) || refuse(response, 'scram hash=SHA-256')
    handshake(header, hasCookie, response)
    return false
  }

  /** The words before a value, in another case and with more space than usual. */
  const styled = (header: string): string =>
    fault === 'capitals'
      ? ` ${header.replaceAll(/(\w+)=/g, (_, name: string) => `${name.toUpperCase()} = `).replaceAll(', ', ' ,  ')}`
      : header

  function refuse(response: ServerResponse, challenge: string): false {
    response.writeHead(401, { 'www-authenticate': styled(challenge), 'content-type': 'text/plain' }).end('login required')
    return false
  }

  function handshake(header: string, hasCookie: boolean, response: ServerResponse): void {
    if (header.startsWith('HELLO username=')) return hello(text64(header.slice('HELLO username='.length)), response)
    const params = Object.fromEntries([...header.matchAll(/(\w+)=([^,\s]+)/g)].map(([, name, value]) => [name, value]))
    const known = handshakes.get(params.handshakeToken ?? '')
    if (!header.startsWith('SCRAM ') || !known || !hasCookie) return void refuse(response, 'scram hash=SHA-256')
    const message = text64(params.data ?? '')
    if (message.startsWith('n,,')) return serverFirst(params.handshakeToken!, message, response)
    return serverFinal(known, message, response)
  }

  function hello(username: string, response: ServerResponse): void {
    if (fault === 'hello 200') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>welcome</html>')
    if (fault === 'basic only') return void refuse(response, 'Basic realm="station"')
    if (fault === 'plaintext only') return void refuse(response, 'PLAINTEXT')
    const token = randomBytes(6).toString('hex')
    handshakes.set(token, { bare: username, first: '', nonce: '' })
    if (needsCookie) response.setHeader('set-cookie', 'session=s1; Path=/; HttpOnly')
    refuse(response, `scram hash=${fault === 'sha-512' ? 'SHA-512' : 'SHA-256'}, handshakeToken=${token}`)
  }

  function serverFirst(token: string, message: string, response: ServerResponse): void {
    if (fault === 'stops after first') return void response.writeHead(403).end()
    if (fault === 'not ready') return void response.writeHead(503).end()
    const bare = message.slice(3)
    const theirs = /r=([^,]+)/.exec(bare)![1]!
    const nonce = fault === 'wrong nonce' ? 'foreign-nonce' : theirs + randomBytes(9).toString('hex')
    const first = `r=${nonce},s=${SALT.toString('base64')},i=${fault === 'few iterations' ? 1 : ITERATIONS}`
    handshakes.set(token, { bare, first, nonce })
    refuse(response, `scram handshakeToken=${token}, hash=SHA-256, data=${data64(first)}`)
  }

  function serverFinal({ bare, first, nonce }: Handshake, message: string, response: ServerResponse): void {
    const withoutProof = `c=biws,r=${nonce}`
    const signed = `${bare},${first},${withoutProof}`
    const salted = pbkdf2Sync(account.password, SALT, ITERATIONS, 32, 'sha256')
    const clientKey = hmac(salted, 'Client Key')
    const signature = hmac(createHash('sha256').update(clientKey).digest(), signed)
    const proof = Buffer.from(clientKey.map((byte, i) => byte ^ signature[i]!)).toString('base64')
    const isRight =
      message === `${withoutProof},p=${proof}` &&
      bare.startsWith(`n=${account.username.replaceAll('=', '=3D').replaceAll(',', '=2C')},`)
    if (!isRight && fault !== 'wrong signature') return void response.writeHead(403).end()
    const token = randomBytes(9).toString('hex')
    tokens.add(token)
    logins++
    const v = fault === 'wrong signature' ? randomBytes(32) : hmac(hmac(salted, 'Server Key'), signed)
    const tail = `hash=SHA-256, data=${data64(`v=${v.toString('base64')}`)}`
    response.writeHead(200, { 'authentication-info': styled(fault === 'no token' ? tail : `authToken=${token}, ${tail}`) }).end()
  }

  return {
    admit,
    /** Makes further logins fail with a fault. */
    fault: (how: SimLoginFault) => void (fault = how),
    /** Drops every login. */
    expire: () => tokens.clear(),
    logins: () => logins,
    open: () => tokens.size,
    logOut: (request: IncomingMessage) =>
      void tokens.delete((request.headers.authorization ?? '').slice('BEARER authToken='.length)),
  }
}

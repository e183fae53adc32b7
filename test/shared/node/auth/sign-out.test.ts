/** Tokens end when somebody signs out, everywhere and for good. */
import test from 'ava'
import Database from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import pino from 'pino'
import { MINUTE } from '#shared/core/time.ts'
import { openHttp } from '#shared/node/http/server.ts'
import { route } from '#shared/node/http/route.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { endedSessionStore } from '#shared/node/store/people/sign-ins.ts'
import { ENDED_MAX, openTokenEnds, rememberEnded } from '#shared/node/auth/token-revocation.ts'
import { openAuth } from '#shared/node/auth/token.ts'
import { PASSWORDS, SECRET, startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

function folder(): string {
  return mkdtempSync(join(tmpdir(), 'plenum-sign-out-'))
}

async function tokenOf(site: TestCentral, username: keyof typeof PASSWORDS): Promise<string> {
  const { body } = await site.call('nobody', 'POST', '/api/auth/login', { username, password: PASSWORDS[username] })
  return body.token
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const statusOf = async (site: TestCentral, token: string) =>
  (await site.call('nobody', 'GET', '/api/auth/me', undefined, bearer(token))).status

test('a logout ends its own token at once and for good, and no other', async t => {
  const workspace = folder()
  t.teardown(() => rmSync(workspace, { recursive: true }))
  const first = await startCentral({ workspace })
  const [mine, other] = [await tokenOf(first, 'viewer'), await tokenOf(first, 'viewer')]
  t.is((await first.call('nobody', 'POST', '/api/auth/logout', undefined, bearer(mine))).status, 200)
  t.deepEqual([await statusOf(first, mine), await statusOf(first, other)], [401, 200])
  await first.close()
  const again = await startCentral({ workspace })
  t.teardown(again.close)
  t.deepEqual([await statusOf(again, mine), await statusOf(again, other)], [401, 200])
})

test('signing out everywhere ends all tokens of a user, also those of the same second, and after a restart', async t => {
  const workspace = folder()
  t.teardown(() => rmSync(workspace, { recursive: true }))
  const first = await startCentral({ workspace })
  const admin = await tokenOf(first, 'admin')
  const minted = (await first.call('admin', 'POST', '/api/auth/agent-token', {})).body.token
  const [agent, viewer] = [await tokenOf(first, 'agent'), await tokenOf(first, 'viewer')]
  const everywhere = (token: string, body?: object) =>
    first.call('nobody', 'POST', '/api/auth/logout-everywhere', body, bearer(token))
  t.is((await everywhere(viewer, { username: 'admin' })).status, 403)
  t.is((await everywhere(admin, { username: 'nobody' })).status, 422)
  t.is((await everywhere(admin, { username: 'n'.repeat(128) })).status, 422)
  for (const username of ['', 'n'.repeat(129)]) t.is((await everywhere(admin, { username })).status, 400)
  t.deepEqual((await everywhere(agent)).body, { ok: true, username: 'agent' })
  t.deepEqual([await statusOf(first, agent), await statusOf(first, minted)], [401, 401])
  t.is(await statusOf(first, await tokenOf(first, 'agent')), 200)
  t.is((await everywhere(admin, { username: 'viewer' })).status, 200)
  t.deepEqual([await statusOf(first, viewer), await statusOf(first, admin)], [401, 200])
  const { body } = await first.call('admin', 'GET', '/api/audit')
  const rows = body.rows.filter(({ action }: { action: string }) => action === 'logout_everywhere')
  t.deepEqual(
    rows.map(({ actor, subject }: { actor: string; subject: string }) => [actor, subject]),
    [
      ['admin', 'viewer'],
      ['agent', 'agent'],
    ],
  )
  await first.close()
  const again = await startCentral({ workspace })
  t.teardown(again.close)
  t.deepEqual([await statusOf(again, agent), await statusOf(again, viewer), await statusOf(again, admin)], [401, 401, 200])
})

test('another password at the next start ends the tokens of its user, also of those who signed out everywhere before', async t => {
  const workspace = folder()
  t.teardown(() => rmSync(workspace, { recursive: true }))
  const first = await startCentral({ workspace })
  await first.call('nobody', 'POST', '/api/auth/logout-everywhere', undefined, bearer(await tokenOf(first, 'admin')))
  const [admin, viewer] = [await tokenOf(first, 'admin'), await tokenOf(first, 'viewer')]
  await first.close()
  const again = await startCentral({ workspace, passwords: { ...PASSWORDS, admin: 'another-password-1' } })
  t.teardown(again.close)
  t.deepEqual([await statusOf(again, admin), await statusOf(again, viewer)], [401, 200])
})

/** A server whose one stream never ends by itself. */
async function openStreams(now: () => number) {
  const auth = openAuth({
    settings: { secret: SECRET, passwords: PASSWORDS, trustedProxies: [] },
    epochs: (values => ({
      get: (name: string) => values.get(name) ?? 0,
      set: (name: string, epoch: number) => void values.set(name, epoch),
    }))(new Map<string, number>()),
    now,
  })
  const events = route({
    method: 'GET',
    path: '/api/events',
    auth: 'viewer',
    summary: 'Events',
    handle: ({ reply }) => {
      const stream = new PassThrough()
      stream.write('event: first\n\n')
      return reply.header('content-type', 'text/event-stream; charset=utf-8').send(stream)
    },
  })
  const base = { name: 'test', host: '127.0.0.1', port: 0, audit: undefined, version: '1.2.3', trustedProxies: [] }
  const http = await openHttp({ ...base, routes: [events], auth, log: pino({ level: 'silent' }) })
  await http.start()
  /** @returns what resolves when the stream is over */
  const follow = async (token: string) => {
    const answer = await fetch(`${http.url()}/api/events`, { headers: bearer(token) })
    const reader = answer.body!.getReader()
    if (answer.status !== 200 || (await reader.read()).done) throw new Error(`no stream: ${answer.status}`)
    return async () => {
      try {
        while (!(await reader.read()).done);
      } catch {}
      return 'over'
    }
  }
  return { auth, http, follow }
}

test('a stream that is open ends with the session that opened it, and others go on', async t => {
  const { auth, http, follow } = await openStreams(Date.now)
  t.teardown(http.stop)
  const [first, second] = [await auth.login('viewer', PASSWORDS.viewer, 'x'), await auth.login('viewer', PASSWORDS.viewer, 'x')]
  const [over, otherOver] = [await follow(first.token), await follow(second.token)]
  const callerOf = (token: string) => auth.callerOf({ headers: bearer(token), cookies: {} } as never)
  auth.logout((await callerOf(first.token))!)
  t.is(await over(), 'over')
  const other = otherOver()
  t.is(await Promise.race([other, Promise.resolve('open')]), 'open')
  auth.logoutEverywhere('viewer')
  t.is(await other, 'over')
})

test('a stream that is open ends when its token expires', async t => {
  const clock = { now: Date.UTC(2026, 2, 1) }
  const { auth, http, follow } = await openStreams(() => clock.now)
  t.teardown(http.stop)
  const { token, expires_at } = await auth.agentToken(60)
  clock.now = expires_at - 20
  t.is(await (await follow(token))(), 'over')
})

test('a user who signs out more often than can be kept is signed out everywhere, and the list begins anew', t => {
  const db = openDatabase(join(folder(), 'plenum.db'))
  t.teardown(() => db.close())
  for (const sessions of [endedSessionStore(db), rememberEnded()]) {
    const epochs = new Map<string, number>()
    const ends = openTokenEnds(
      { get: name => epochs.get(name) ?? 0, set: (name, n) => void epochs.set(name, n) },
      sessions,
      () => 0,
    )
    const caller = { subject: 'viewer', role: 'viewer', via: 'bearer', expires_at: MINUTE } as const
    for (let i = 0; i < ENDED_MAX; i++) ends.endSession({ ...caller, session: `s${i}` })
    t.is(ends.epochOf('viewer'), 0)
    t.true(ends.isEnded({ subject: 'viewer', session: 's0', epoch: 0 }))
    ends.endSession({ ...caller, session: 'one more' })
    t.is(ends.epochOf('viewer'), 1)
    t.true(ends.isEnded({ subject: 'viewer', session: 's0', epoch: 0 }))
    t.false(sessions.has('s0'))
  }
})

test('sessions whose token has expired are forgotten', t => {
  const path = join(folder(), 'plenum.db')
  const db = openDatabase(path)
  t.teardown(() => db.close())
  const sessions = endedSessionStore(db)
  t.is(sessions.add({ session: 'a', username: 'viewer', until: MINUTE }, 0), 1)
  t.is(sessions.add({ session: 'b', username: 'viewer', until: 2 * MINUTE }, MINUTE), 1)
  t.deepEqual([sessions.has('a'), sessions.has('b')], [false, true])
  t.is(new Database(path, { readonly: true }).prepare('SELECT count(*) FROM ended_sessions').pluck().get(), 1)
})

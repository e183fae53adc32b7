/** Servers that cannot answer one request: the other points are still read, and the connection test reports what polling will see. */
import test from 'ava'
import { connectionLines } from '#appliance/drivers/haystack/core/connection-report.ts'
import { DeviceError } from '#shared/core/poll/device.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { checkConnection } from '#appliance/drivers/haystack/check.ts'
import { PROFILES, simPoint } from '#scripts/simulator/haystack/server.ts'
import { accessOf, IMPATIENCE, item, NEVER, openClient, openDriver, openServer, RETRY_POLICY, point } from './harness.ts'

const QUICK = { timeoutMs: IMPATIENCE.timeoutMs, retries: 0 }
const TEMP = item('temp', point('@a1'))
const named = (id: string) => item(id, point(`dis == "Point ${id}"`))
const numbers = (count: number) => Array.from({ length: count }, (_, i) => simPoint(`p${i}`, { num: i }))
const byId = (readings: readonly { id: string; v: unknown }[]) => Object.fromEntries(readings.map(({ id, v }) => [id, v]))

test('a server of version 2 gets grids of version 2, one of version 3 grids of version 3', async t => {
  for (const [ver, profile] of [
    ['2.0', PROFILES.nhaystack],
    ['3.0', { ...PROFILES.skyspark, auth: 'basic' as const }],
  ] as const) {
    const server = await openServer(t, profile)
    const { session, client } = openClient(t, accessOf(server, 'basic'))
    t.is((await client.read('dis == "Point a1"', 2, RETRY_POLICY)).rows.length, 1)
    t.is((await client.readIds(['a1'], RETRY_POLICY)).rows.length, 1)
    t.deepEqual(server.ops(), ['about', 'read', 'read'])
    t.deepEqual(
      server.asked.slice(1).map(({ version }) => version),
      [ver, ver],
    )
    await session.close()
  }
})

test('the version of a server is also taken from its grids', async t => {
  const server = await openServer(t, PROFILES.nhaystack)
  const { client } = openClient(t, accessOf(server, 'basic'))
  server.misbehave('not found', 'about')
  await client.ops(RETRY_POLICY)
  t.is((await client.readIds(['a1'], RETRY_POLICY)).rows.length, 1)
})

test('a filter that the server does not answer leaves the other points good, and is tried again after a growing pause', async t => {
  let now = 0
  const server = await openServer(t, { watches: 'none' }, { points: numbers(4) })
  const driver = openDriver(t, accessOf(server, 'scram'), { ...QUICK, now: () => now, leaseMs: HOUR })
  server.spoil('silent', ({ filter }) => filter?.includes('p1') ?? false)
  const items = [named('p0'), named('p1'), named('p2'), item('p3', point('@p3'))]
  const asked = () => server.asked.filter(({ question }) => question.filter?.includes('p1')).length
  for (let i = 0; i < 4; i++) {
    t.deepEqual(byId(await driver.read(items, NEVER)), { p0: 0, p1: null, p2: 2, p3: 3 })
    t.is(asked(), i === 0 ? 1 : 2, `read ${i}`)
  }
  t.regex(driver.report().point_error!, /^dis == "Point p1": no answer/)
  server.behave()
  now += 6 * MINUTE
  t.deepEqual(byId(await driver.read(items, NEVER)), { p0: 0, p1: 1, p2: 2, p3: 3 })
})

test('when many filters fail, the others are resolved in the following reads', async t => {
  const server = await openServer(t, { watches: 'none' }, { points: numbers(12) })
  const driver = openDriver(t, accessOf(server, 'scram'), { ...QUICK, leaseMs: HOUR })
  server.spoil('a page instead of a grid', ({ filter }) => /p[0-6]"/.test(filter ?? ''))
  const items = numbers(12).map(({ id }) => named(id))
  let readings = await driver.read(items, NEVER)
  t.deepEqual(new Set(readings.map(({ v }) => v)), new Set([null]))
  for (let i = 0; i < 2; i++) readings = await driver.read(items, NEVER)
  t.deepEqual(
    readings.map(({ v }) => v),
    [...Array(7).fill(null), 7, 8, 9, 10, 11],
  )
})

for (const watches of ['good', 'none'] as const) {
  for (const how of ['silent', 'an error grid', 'status 500 with a page'] as const) {
    test(`with ${watches} watches one failing record affects no other: ${how}`, async t => {
      let now = 0
      const server = await openServer(t, { watches }, { points: numbers(30) })
      const driver = openDriver(t, accessOf(server, 'scram'), { ...QUICK, now: () => now, leaseMs: HOUR })
      server.spoil(how, ({ ids }) => ids.includes('p17'))
      const items = numbers(30).map(({ id }) => item(id, point(`@${id}`)))
      const wanted = items.map((_, i) => (i === 17 ? null : i))
      for (let i = 0; i < 3; i++)
        t.deepEqual(
          (await driver.read(items, NEVER)).map(({ v }) => v),
          wanted,
        )
      const before = server.asked.length
      await driver.read(items, NEVER)
      t.is(server.asked.length, before + 1, 'the others go in one request')
      t.regex(driver.report().point_error!, /^@p17: /)
      server.behave()
      now += HOUR
      await driver.read(items, NEVER)
      t.is((await driver.read(items, NEVER))[17]!.v, 17)
    })
  }
}

test('a server whose watches get no answer is read by id', async t => {
  const server = await openServer(t)
  server.misbehave('silent', 'watchSub')
  const driver = openDriver(t, accessOf(server, 'scram'), QUICK)
  for (let i = 0; i < 2; i++) t.like((await driver.read([TEMP], NEVER))[0], { v: 21.5, q: 'good' })
  t.is(server.ops().filter(op => op === 'watchSub').length, 1)
})

test('a server that answers nothing is down after few requests, whatever its points', async t => {
  const server = await openServer(t, { watches: 'none' }, { points: numbers(40) })
  const driver = openDriver(t, accessOf(server, 'scram'), QUICK)
  const items = numbers(40).map(({ id }, i) => (i % 2 ? named(id) : item(id, point(`@${id}`))))
  await driver.read(items, NEVER)
  server.misbehave('silent')
  const before = server.asked.length
  const error = await t.throwsAsync(driver.read(items, NEVER), { instanceOf: DeviceError, message: /no answer/ })
  t.is((error as DeviceError).kind, 'silent')
  t.true(server.asked.length - before <= 3)
  server.behave()
  t.true((await driver.read(items, NEVER)).every(({ q }) => q === 'good'))
})

const CHECKED = [
  { text: 'dis == "Point a1"', point: point('dis == "Point a1"') },
  { text: '@a1', point: point('@a1') },
]

for (const [name, profile] of Object.entries(PROFILES)) {
  test(`the connection test of a server like ${name} reads a point`, async t => {
    const server = await openServer(t, profile)
    const report = await checkConnection(accessOf(server, profile.auth), CHECKED)
    t.true(report.ok)
    t.deepEqual(report.point, { address: '@a1', says: '21.5 degC, good' })
    t.regex(connectionLines(report).join('\n'), /: ok\n(.*\n)+ {2}@a1: 21\.5 degC, good$/)
    t.like(await checkConnection(accessOf(server, profile.auth), []), { ok: true, point: { says: 'the server has points' } })
  })
}

test('the connection test fails for a server that answers no read', async t => {
  const server = await openServer(t)
  server.misbehave('status 500 with a page', 'read')
  const report = await checkConnection(accessOf(server, 'scram'), CHECKED)
  t.false(report.ok)
  t.like(
    report.steps.find(({ state }) => state === 'failed'),
    { step: 'op', message: 'read was answered with status 500' },
  )
  t.regex(connectionLines(report)[0]!, /: reached, but not readable$/)
})

test('the connection test tries another point when the server cannot answer the first', async t => {
  const server = await openServer(t)
  server.spoil('an error grid', ({ ids }) => ids.includes('a1'))
  t.like(await checkConnection(accessOf(server, 'scram'), CHECKED), { ok: true, point: { address: 'dis == "Point a1"' } })
})

test('the connection test reports a point without a record', async t => {
  const server = await openServer(t)
  const missing = [{ text: '@zz', point: point('@zz') }]
  t.like(await checkConnection(accessOf(server, 'scram'), missing), { ok: true, point: { says: 'no record matches' } })
})

test('an error answer and a wrong password are reported without another attempt', async t => {
  const server = await openServer(t, { auth: 'basic' })
  const { client } = openClient(t, accessOf(server, 'basic'))
  server.misbehave('status 500 with a page')
  await t.throwsAsync(client.about({ ...RETRY_POLICY, retries: 3 }), { message: /status 500/ })
  t.is(server.asked.length, 1)
  server.behave()
  const stranger = openClient(t, accessOf(server, 'basic', { secret: 'wrong' }))
  await t.throwsAsync(stranger.client.about({ ...RETRY_POLICY, retries: 3 }), { message: /401/ })
  t.is(server.asked.length, 2)
})

test('a cancelled request gets no further attempt', async t => {
  const server = await openServer(t)
  const { client } = openClient(t, accessOf(server, 'scram'))
  await client.about(RETRY_POLICY)
  server.misbehave('silent')
  const before = server.asked.length
  const stop = new AbortController()
  const asking = client.about({ ...RETRY_POLICY, retries: 3, signal: stop.signal })
  while (server.asked.length === before) await new Promise(setImmediate)
  stop.abort()
  await t.throwsAsync(asking, { message: /cancelled/ })
  t.is(server.asked.length, before + 1)
})

test('the pause between attempts is 0.2 s and doubles', async t => {
  const server = await openServer(t, { auth: 'basic' })
  const { client } = openClient(t, accessOf(server, 'basic'))
  await client.about(RETRY_POLICY)
  server.misbehave('headers without end')
  await t.throwsAsync(client.about({ ...RETRY_POLICY, retries: 3 }), { message: /HTTP/ })
  t.is(server.asked.length, 2, 'only a request without an answer is repeated')
  server.misbehave('reset')
  await t.throwsAsync(client.about({ ...RETRY_POLICY, retries: 3 }))
  const at = server.asked.map(one => one.at)
  for (const [i, leastMs] of [200, 400, 800].entries()) {
    // Timers may fire a little early.
    t.true(at.at(i - 3)! - at.at(i - 4)! > leastMs - 5, `before attempt ${i + 2}`)
  }
})

/** The driver against simulated servers: watches, fallbacks, bad points and failed servers. */
import test from 'ava'
import { DeviceError } from '#shared/core/poll/device.ts'
import { MINUTE } from '#shared/core/time.ts'
import { PROFILES, simPoint } from '#scripts/simulator/haystack/server.ts'
import { accessOf, item, NEVER, openDriver, openServer, point } from './harness.ts'

const TEMP = item('temp', point('@a1'))
const FAN = item('fan', point('@a2', 'bool', 'bool'))

for (const [name, profile] of Object.entries(PROFILES)) {
  test(`points of a server like ${name} are read repeatedly`, async t => {
    const server = await openServer(t, profile)
    const driver = openDriver(t, accessOf(server, profile.auth))
    const items = [TEMP, FAN, item('mode', point('dis == "Point a3"', 'enum', 'enum'))]
    const values = async () => (await driver.read(items, NEVER)).map(({ id, v, q }) => [id, v, q])
    t.deepEqual(await values(), [
      ['temp', 21.5, 'good'],
      ['fan', true, 'good'],
      ['mode', 'cool', 'good'],
    ])
    t.is(driver.report().point_error, null)
    server.set('a1', { curVal: { num: 22, unit: '°C' } })
    t.deepEqual((await values())[0], ['temp', 22, 'good'])
    server.set('a1', { curVal: { num: 23, unit: '°C' }, curStatus: 'down', curErr: 'cable' })
    t.deepEqual((await values())[0], ['temp', null, 'bad'])
    t.is(driver.report().point_error, '@a1: curStatus is down: cable')
    t.is(server.ops().includes('watchPoll'), profile.watches === 'good')
    await driver.close()
    t.is(server.watches.size, 0)
  })
}

test('a watch is polled for changes only, and points are added to it', async t => {
  const server = await openServer(t)
  const driver = openDriver(t, accessOf(server, 'scram'))
  await driver.read([TEMP], NEVER)
  await driver.read([TEMP, FAN], NEVER)
  await driver.read([FAN], NEVER)
  t.deepEqual(server.ops().slice(3), ['ops', 'about', 'watchSub', 'watchPoll', 'watchSub', 'watchPoll'])
  t.deepEqual(
    server.asked.filter(({ op }) => op === 'watchSub').map(({ question }) => [question.watchId, question.ids]),
    [
      [undefined, ['a1']],
      ['w-1', ['a2']],
    ],
  )
  t.is(server.watches.size, 1)
})

test('a reading has the time of the answer that confirms it', async t => {
  let now = 1000
  const server = await openServer(t)
  const driver = openDriver(t, accessOf(server, 'scram'), { now: () => now })
  t.is((await driver.read([TEMP], NEVER))[0]!.t, 1000)
  now = 9000
  t.is((await driver.read([TEMP], NEVER))[0]!.t, 9000)
})

test('a watch whose lease has expired is replaced without a poll of the old one', async t => {
  let now = 0
  const server = await openServer(t)
  const driver = openDriver(t, accessOf(server, 'scram'), { now: () => now })
  await driver.read([TEMP], NEVER)
  now += 2 * MINUTE
  server.advance(2 * MINUTE)
  server.set('a1', { curVal: { num: 25, unit: '°C' } })
  t.like((await driver.read([TEMP], NEVER))[0], { v: 25, q: 'good' })
  t.deepEqual(server.ops().slice(-2), ['watchSub', 'watchSub'])
})

test('a watch that the server has dropped is replaced in the same read', async t => {
  const server = await openServer(t)
  const driver = openDriver(t, accessOf(server, 'scram'))
  await driver.read([TEMP], NEVER)
  server.watches.clear()
  server.set('a1', { curVal: { num: 25, unit: '°C' } })
  t.like((await driver.read([TEMP], NEVER))[0], { v: 25, q: 'good' })
  t.deepEqual(server.ops().slice(-3), ['watchSub', 'watchPoll', 'watchSub'])
  await driver.read([TEMP], NEVER)
  t.is(server.ops().at(-1), 'watchPoll')
})

test('a server that drops every watch is read by id', async t => {
  const server = await openServer(t, { watches: 'forgetful' })
  const driver = openDriver(t, accessOf(server, 'scram'))
  for (let i = 0; i < 5; i++) {
    server.set('a1', { curVal: { num: 20 + i, unit: '°C' } })
    t.like((await driver.read([TEMP], NEVER))[0], { v: 20 + i, q: 'good' })
  }
  t.deepEqual(server.ops().slice(-2), ['read', 'read'])
})

test('a server that cannot extend a watch is read by id', async t => {
  const server = await openServer(t, { watches: 'single' })
  const driver = openDriver(t, accessOf(server, 'scram'))
  await driver.read([TEMP], NEVER)
  for (let i = 0; i < 3; i++) {
    server.set('a1', { curVal: { num: 20 + i, unit: '°C' } })
    server.set('a2', { curVal: i % 2 === 0 })
    t.deepEqual(
      (await driver.read([TEMP, FAN], NEVER)).map(({ v }) => v),
      [20 + i, i % 2 === 0],
    )
  }
  t.deepEqual(server.ops().slice(-2), ['read', 'read'])
})

test('a watch that was dropped before the refresh is replaced', async t => {
  let now = 0
  const server = await openServer(t)
  const driver = openDriver(t, accessOf(server, 'scram'), { now: () => now, leaseMs: 60 * MINUTE })
  await driver.read([TEMP, FAN], NEVER)
  server.watches.clear()
  server.set('a1', { curVal: { num: 30, unit: '°C' } })
  now += 11 * MINUTE
  t.like((await driver.read([TEMP, FAN], NEVER))[0], { v: 30, q: 'good' })
  await driver.read([TEMP, FAN], NEVER)
  t.deepEqual(server.ops().slice(-3), ['watchSub', 'watchSub', 'watchPoll'])
})

test('points are read by id when only watches fail; a temporary failure of the whole server keeps the watch', async t => {
  for (const how of ['status 500 with a page', 'an error grid', 'forbidden'] as const) {
    const server = await openServer(t)
    server.misbehave(how, 'watchSub')
    const driver = openDriver(t, accessOf(server, 'scram'))
    t.like((await driver.read([TEMP], NEVER))[0], { v: 21.5, q: 'good' }, how)
    await driver.read([TEMP], NEVER)
    t.deepEqual(server.ops().slice(-2), ['read', 'read'])
  }
  const server = await openServer(t)
  const driver = openDriver(t, accessOf(server, 'scram'))
  await driver.read([TEMP], NEVER)
  server.misbehave('status 503 without a body')
  for (let i = 0; i < 3; i++) await t.throwsAsync(driver.read([TEMP], NEVER), { instanceOf: DeviceError, message: /503/ })
  server.behave()
  t.like((await driver.read([TEMP], NEVER))[0], { v: 21.5, q: 'good' })
  await driver.read([TEMP], NEVER)
  t.is(server.ops().at(-1), 'watchPoll')
})

test('a filter is tried again after a temporary failure of the server', async t => {
  const server = await openServer(t)
  server.misbehave('status 503 without a body', 'read', 1)
  const driver = openDriver(t, accessOf(server, 'scram'))
  const items = [item('mode', point('dis == "Point a3"', 'enum', 'enum'))]
  t.like((await driver.read(items, NEVER))[0], { v: null, q: 'bad' })
  t.regex(driver.report().point_error!, /503/)
  t.like((await driver.read(items, NEVER))[0], { v: 'cool', q: 'good' })
})

test('all records are requested again after ten minutes, which finds a deleted record', async t => {
  let now = 0
  const server = await openServer(t)
  const driver = openDriver(t, accessOf(server, 'scram'), { now: () => now, leaseMs: 60 * MINUTE })
  await driver.read([TEMP, FAN], NEVER)
  server.remove('a1')
  now += 10 * MINUTE - 1
  await driver.read([TEMP, FAN], NEVER)
  t.is(driver.report().point_error ?? null, null, 'for ten minutes only changes are requested')
  now += 1
  t.deepEqual(
    (await driver.read([TEMP, FAN], NEVER)).map(({ v, q }) => [v, q]),
    [
      [null, 'bad'],
      [true, 'good'],
    ],
  )
  t.is(driver.report().point_error, '@a1: the server has no record @a1')
})

test('a filter that matches no record, or two, gives a bad point with the reason and is tried again later', async t => {
  let now = 0
  const twins = [
    simPoint('b1', { num: 1 }, { dis: 'Twin' }),
    simPoint('b2', { num: 2 }, { dis: 'Twin' }),
    simPoint('a1', { num: 3 }),
  ]
  const server = await openServer(t, {}, { points: twins })
  const driver = openDriver(t, accessOf(server, 'scram'), { now: () => now, leaseMs: 60 * MINUTE })
  const [twin, none, odd] = ['dis == "Twin"', 'dis == "None"', 'odd == "x"'].map((filter, i) => item(`f${i}`, point(filter)))
  const read = () => driver.read([twin!, none!, odd!, TEMP], NEVER)
  t.deepEqual(
    (await read()).map(({ v, q }) => [v, q]),
    [
      [null, 'bad'],
      [null, 'bad'],
      [null, 'bad'],
      [3, 'good'],
    ],
  )
  t.regex(driver.report().point_error!, /axon::ParseErr/)
  await driver.read([twin!], NEVER)
  t.regex(driver.report().point_error!, /more than one record matches dis == "Twin"/)
  await driver.read([none!], NEVER)
  t.regex(driver.report().point_error!, /no record matches/)
  const before = server.ops().filter(op => op === 'read').length
  t.is(before, 3)
  server.set('b2', { dis: 'Other' })
  now += 6 * MINUTE
  t.like((await read())[0], { v: 1, q: 'good' })
})

test('one unreadable record affects no other, and is not requested for a while', async t => {
  for (const watches of ['good', 'none'] as const) {
    const many = Array.from({ length: 30 }, (_, i) => simPoint(`p${i}`, i === 17 ? { raw: 'Bin(text/plain)' } : { num: i }))
    const server = await openServer(t, { watches, formats: ['zinc'] }, { points: many })
    const driver = openDriver(t, accessOf(server, 'scram'))
    const items = many.map(({ id }) => item(id, point(`@${id}`)))
    const readings = await driver.read(items, NEVER)
    t.deepEqual(
      readings.filter(({ q }) => q === 'bad').map(({ id }) => id),
      ['p17'],
    )
    t.deepEqual(
      readings.filter(({ q }) => q === 'good').map(({ v }) => v),
      items.map((_, i) => i).filter(i => i !== 17),
    )
    t.regex(driver.report().point_error!, /@p17: .*cannot be read as Zinc/)
    const before = server.asked.length
    await driver.read(items, NEVER)
    t.true(server.asked.length - before <= 5)
  }
})

test('many points are requested in batches of 200, and each gets its own value', async t => {
  const many = Array.from({ length: 1030 }, (_, i) => simPoint(`p${i}`, { num: i }))
  const server = await openServer(t, {}, { points: many })
  const driver = openDriver(t, accessOf(server, 'scram'))
  const readings = await driver.read(
    many.map(({ id }) => item(id, point(`@p:demo:r:${id}`))),
    NEVER,
  )
  t.deepEqual(
    readings.map(({ v }) => v),
    many.map((_, i) => i),
  )
  t.deepEqual(
    server.asked.filter(({ op }) => op === 'watchSub').map(({ question }) => question.ids.length),
    [200, 200, 200, 200, 200, 30],
  )
})

test('a refused login is not tried again for five minutes', async t => {
  let now = 0
  const server = await openServer(t)
  const driver = openDriver(t, accessOf(server, 'scram', { secret: 'wrong' }), { now: () => now })
  for (let i = 0; i < 3; i++) {
    const error = await t.throwsAsync(driver.read([TEMP], NEVER), {
      instanceOf: DeviceError,
      message: /^auth: .*check user name and password/,
    })
    t.is((error as DeviceError).kind, 'fault')
  }
  t.is(server.asked.length, 3)
  now += 6 * MINUTE
  await t.throwsAsync(driver.read([TEMP], NEVER))
  t.is(server.asked.length, 6)
})

for (const fault of ['wrong signature', 'wrong nonce', 'few iterations'] as const) {
  test(`a server that cannot prove what it is gets no further proof for five minutes: ${fault}`, async t => {
    const server = await openServer(t)
    server.login.fault(fault)
    const driver = openDriver(t, accessOf(server, 'scram'), { now: () => 0 })
    await t.throwsAsync(driver.read([TEMP], NEVER), { message: /^auth: / })
    const asked = server.asked.length
    await t.throwsAsync(driver.read([TEMP], NEVER), { message: /^auth: / })
    t.is(server.asked.length, asked)
  })
}

test('a server that is being started while the login runs is read at once when it is ready', async t => {
  const server = await openServer(t)
  server.login.fault('not ready')
  const driver = openDriver(t, accessOf(server, 'scram'), { now: () => 0 })
  await t.throwsAsync(driver.read([TEMP], NEVER), { message: /503/ })
  server.login.fault('none')
  t.like((await driver.read([TEMP], NEVER))[0], { v: 21.5, q: 'good' })
})

test('a cancelled read ends at once', async t => {
  const server = await openServer(t)
  server.misbehave('silent')
  const driver = openDriver(t, accessOf(server, 'scram'), { retries: 3 })
  const stop = new AbortController()
  const read = driver.read([TEMP], stop.signal)
  setTimeout(() => stop.abort(), 50)
  await t.throwsAsync(read, { instanceOf: DeviceError, message: /cancelled/ })
})

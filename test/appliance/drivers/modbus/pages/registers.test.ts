/** The page of Modbus registers and its API, over real HTTP, in front of real sockets. */
import { readFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import type { Route } from '#shared/node/http/route.ts'
import { modbusProtocol } from '#appliance/drivers/modbus/protocol.ts'
import { modbusRoutes } from '#appliance/drivers/modbus/pages/registers.route.ts'
import type { DeviceEntry } from '#appliance/store/catalogue-schema.ts'
import { brokenValue } from '../../../../support/pages/broken-value.ts'
import { until } from '../../../../support/folders.ts'
import { openSite, PASSWORDS } from '../../../../support/sites/page-site.ts'
import { modbusFrame, openTcpPeer, registersOf, type TcpBehaviour } from '../../../../support/tcp-peer.ts'

const QUERY = 'device_id=meter&table=holding&address=100&count=4'

const entryOf = (device_id: string, port: number, rest: Partial<DeviceEntry> = {}): DeviceEntry => ({
  device_id,
  name: 'Main <meter>',
  enabled: true,
  protocol: 'modbus',
  modbus: { host: '127.0.0.1', port, unit_id: 1 },
  timeout_ms: 8000,
  points: [{ point_id: 'p', address: 'input:7:uint16', name: 'p', unit: 'kW', kind: 'number', poll_secs: 60 }],
  ...rest,
})

async function open(t: ExecutionContext, behaviour: TcpBehaviour = answers) {
  const peer = await openTcpPeer(t, behaviour)
  const modbus = modbusProtocol({ now: Date.now })
  const devices = [
    entryOf('meter', peer.port),
    entryOf('off', peer.port, { enabled: false }),
    // Long enough for a busy machine to connect in.
    entryOf('hasty', peer.port, { timeout_ms: 1500 }),
  ]
  let routes: Route[] = []
  const site = await openSite({
    product: 'appliance',
    more: layout => (routes = modbusRoutes({ catalogue: () => ({ devices }), modbus }, layout)),
  })
  t.teardown(async () => {
    await modbus.stop()
    await site.close()
  })
  const get = getterOf(site.url)
  return { peer, modbus, devices, get, routes }
}

/** Asks a site as one of its users. */
const getterOf =
  (url: string) =>
  async (path: string, who: keyof typeof PASSWORDS = 'agent') => {
    const body = new URLSearchParams({ username: who, password: PASSWORDS[who], next: '/' })
    const login = await fetch(`${url}/login`, {
      method: 'POST',
      body,
      redirect: 'manual',
      headers: { accept: 'text/html', origin: url },
    })
    const accept = path.startsWith('/api') ? 'application/json' : 'text/html'
    return fetch(url + path, { headers: { accept, cookie: login.headers.getSetCookie()[0]!.split(';')[0]! } })
  }

const json = (answer: Response): Promise<any> => answer.json()

/** float32 21.5 with its words turned round from 100 on, else each register its own address; nothing beyond 1000. */
const answers: TcpBehaviour = (request, socket) => {
  const { code, address, count } = request
  const pdu = code <= 2 ? Buffer.of(code, 1, 0b101) : registersOf(request)
  if (address === 100 && count >= 2) pdu.writeUInt32BE(0x0000_41ac, 2)
  socket.write(modbusFrame(request, address >= 1000 ? Buffer.of(code | 0x80, 2) : pdu))
}

test('the API returns registers as received and every possible value with its point address', async t => {
  const { get, peer } = await open(t)
  const answer = await get(`/api/modbus/registers?${QUERY}`)
  t.is(answer.status, 200)
  const body = await json(answer)
  t.like(body, { ok: true, device_id: 'meter', table: 'holding', address: 100, count: 4 })
  t.deepEqual(
    body.registers.map(({ hex }: { hex: string }) => hex),
    ['0000', '41ac', '0066', '0067'],
  )
  const right = body.values.find((one: { text: string }) => one.text === '21.5')
  t.deepEqual(right, {
    address: 100,
    format: 'float32',
    order: 'CDAB',
    value: 21.5,
    text: '21.5',
    rounded: false,
    point_address: 'holding:100:float32:CDAB',
  })
  t.is(body.values.filter(({ address }: { address: number }) => address === 102).length, 16)
  t.deepEqual(
    peer.asked.map(({ code, address, count }) => [code, address, count]),
    [[3, 100, 4]],
  )
})

test('the round-trip time is given to 0.1 ms, and on the page in whole milliseconds from 1', async t => {
  let rttMs = 0
  const modbus = {
    readPlace: async () => ({ state: 'data' as const, bytes: Buffer.from('00010002', 'hex'), at: Date.now(), rttMs }),
  }
  const devices = [entryOf('meter', 1)]
  const site = await openSite({
    product: 'appliance',
    more: layout => modbusRoutes({ catalogue: () => ({ devices }), modbus }, layout),
  })
  t.teardown(() => site.close())
  const get = getterOf(site.url)
  for (const [took, told, shown] of [
    [12.345, 12.3, 'in 12\u00a0ms'],
    [0.04, 0, 'in 1\u00a0ms'],
    [99.96, 100, 'in 100\u00a0ms'],
  ] as const) {
    rttMs = took
    t.is((await json(await get('/api/modbus/registers?device_id=meter&table=holding&address=0&count=2'))).rtt_ms, told)
    t.true((await (await get('/modbus?device_id=meter&table=holding&address=0&count=2')).text()).includes(`, ${shown}</p>`))
  }
})

test('bits are returned one by one', async t => {
  const { get } = await open(t)
  const body = await json(await get('/api/modbus/registers?device_id=meter&table=coil&address=8&count=3'))
  t.deepEqual(body.bits, [
    { address: 8, value: 1 },
    { address: 9, value: 0 },
    { address: 10, value: 1 },
  ])
  t.is(body.values, undefined)
})

for (const [path, status, code] of [
  ['device_id=nobody&table=holding&address=0&count=1', 404, 'unknown_device'],
  ['device_id=off&table=holding&address=0&count=1', 404, 'unknown_device'],
  ['device_id=meter&table=holding&address=0&count=126', 422, 'invalid'],
  ['device_id=meter&table=coil&address=65000&count=2000', 422, 'invalid'],
  ['device_id=meter&table=coil&address=0&count=2001', 400, 'bad_request'],
  ['device_id=meter&table=holding&address=65536&count=1', 400, 'bad_request'],
  ['device_id=meter&table=writing&address=0&count=1', 400, 'bad_request'],
  ['device_id=meter&table=holding&address=1000&count=1', 502, 'device_failed'],
] as const) {
  test(`${path} is answered with ${code}`, async t => {
    const { get } = await open(t)
    const answer = await get(`/api/modbus/registers?${path}`)
    t.is(answer.status, status)
    t.is((await json(answer)).code, code)
  })
}

test('a device without an answer is a problem, and another read meanwhile is refused', async t => {
  const { get } = await open(t, () => undefined)
  const path = '/api/modbus/registers?device_id=hasty&table=holding&address=0&count=1'
  const bodies = await Promise.all([get(path), get(path)].map(async answer => json(await answer)))
  t.true(bodies.some(({ code, detail }) => code === 'device_failed' && /no (answer from|connection within)/.test(detail)))
  t.true(bodies.every(({ code }) => code === 'device_failed' || code === 'conflict'))
})

test('a read is in turn with polling, on the same connection', async t => {
  let [inFlight, most] = [0, 0]
  const { get, peer, modbus, devices } = await open(t, (request, socket) => {
    most = Math.max(most, ++inFlight)
    setTimeout(() => {
      inFlight--
      socket.write(modbusFrame(request, registersOf(request)))
    }, 5)
  })
  const { driver, addresses } = modbus.link(devices[0]!)
  const points = Array.from(addresses, ([point_id, address]) => ({ point_id, address }))
  const never = new AbortController().signal
  const polls = Array.from({ length: 20 }, () => driver.read(points, never))
  const answer = await get(`/api/modbus/registers?${QUERY}`)
  t.is(answer.status, 200)
  for (const [reading] of await Promise.all(polls)) t.is(reading?.v, 7)
  t.is(most, 1)
  t.is(peer.connections(), 1)
  await driver.close()
})

test('the page shows the values from any register, and its form works without script', async t => {
  const { get } = await open(t)
  const page = await (await get(`/modbus?${QUERY}&from=101`)).text()
  t.regex(page, /4 registers of Main &lt;meter&gt;/)
  t.regex(page, /Values that begin at register 101/)
  t.regex(page, /<h3>uint16<\/h3>\n<dl class="values"><div><dt><code>AB<\/code><\/dt><dd>16812</)
  t.regex(page, /href="\/modbus\?device_id=meter&amp;table=holding&amp;address=100&amp;count=4&amp;from=102#values"/)
  t.regex(page, /<form class="filter" method="get" action="\/modbus">/)
  t.is(brokenValue(page), '')
  t.regex(await (await get('/modbus')).text(), /<option value="holding" selected>/)
  t.regex(await (await get('/modbus?device_id=meter&table=coil&address=8&count=3')).text(), /<code>coil:10<\/code>/)
})

test('the page states why nothing was read, keeps the form, and is for operators', async t => {
  const { get } = await open(t)
  const failed = await get('/modbus?device_id=meter&table=input&address=1000&count=2')
  t.is(failed.status, 502)
  const page = await failed.text()
  t.regex(page, /role="alert">meter refuses: exception 2 \(illegal data address\)/)
  t.regex(page, /name="address" value="1000"/)
  t.is((await get('/modbus', 'viewer')).status, 403)
  t.is((await get(`/api/modbus/registers?${QUERY}`, 'viewer')).status, 403)
})

test('API.md describes the route, its role and its problems', async t => {
  const { routes } = await open(t)
  const text = readFileSync(new URL('../../../../../shared/central/API.md', import.meta.url), 'utf8')
  const { method, path, auth, problems = [] } = routes.find(route => route.path.startsWith('/api/'))!
  const line = text.split('\n').find(one => one.includes(`\`${method} ${path}\``))
  t.true(line?.includes(`(${auth})`))
  for (const code of problems) t.true(line?.includes(`\`${code}\``), code)
})

/** Declines every read that touches one of `missing`. */
const without =
  (...missing: number[]): TcpBehaviour =>
  (request, socket) => {
    const { code, address, count } = request
    const touches = missing.some(one => one >= address && one < address + count)
    const pdu =
      code <= 2
        ? Buffer.concat([Buffer.of(code, Math.ceil(count / 8)), Buffer.alloc(Math.ceil(count / 8), 0xff)])
        : registersOf(request)
    socket.write(modbusFrame(request, touches ? Buffer.of(code | 0x80, 2) : pdu))
  }

test('a missing register hides no other, and is named', async t => {
  const { get, peer } = await open(t, without(103, 104, 120))
  const answer = await get('/api/modbus/registers?device_id=meter&table=holding&address=100&count=30')
  t.is(answer.status, 200)
  const { registers, values, unreadable } = await json(answer)
  const readable = Array.from({ length: 30 }, (_, i) => 100 + i).filter(address => ![103, 104, 120].includes(address))
  t.deepEqual(
    registers.map(({ address }: { address: number }) => address),
    readable,
  )
  t.deepEqual(
    registers.map(({ uint16 }: { uint16: number }) => uint16),
    readable,
  )
  t.deepEqual(
    unreadable.map(({ address, count }: { address: number; count: number }) => [address, count]),
    [
      [103, 2],
      [120, 1],
    ],
  )
  t.regex(unreadable[0].reason, /meter refuses/)
  // A value of two registers begins at 101 but not at 102, whose second one is missing.
  const longs = values
    .filter(({ format }: { format: string }) => format === 'uint32')
    .map(({ address }: { address: number }) => address)
  t.true(longs.includes(101))
  t.false(longs.includes(102) || longs.includes(104))
  t.true(peer.asked.length <= 40)

  const page = await (await get('/modbus?device_id=meter&table=holding&address=100&count=30&from=121')).text()
  t.regex(page, /27 registers of/)
  t.regex(page, /holding registers 103 to 104: meter refuses/)
  t.regex(page, /holding registers 120: meter refuses/)
  t.regex(page, /Values that begin at register 121/)
})

test('bits around a missing one are shown with their addresses', async t => {
  const { get } = await open(t, without(12))
  const { bits, unreadable } = await json(await get('/api/modbus/registers?device_id=meter&table=coil&address=8&count=8'))
  t.deepEqual(
    bits.map(({ address }: { address: number }) => address),
    [8, 9, 10, 11, 13, 14, 15],
  )
  t.deepEqual(
    unreadable.map(({ address }: { address: number }) => address),
    [12],
  )
})

test('a device that refuses everything gets a bounded number of requests', async t => {
  const { get, peer } = await open(t, without(...Array.from({ length: 125 }, (_, i) => i)))
  const answer = await get('/api/modbus/registers?device_id=meter&table=holding&address=0&count=125')
  t.is(answer.status, 502)
  t.true(peer.asked.length > 40 && peer.asked.length <= 80)
})

test('a device that never answers gets seven requests', async t => {
  const { get, peer } = await open(t, () => undefined)
  const answer = await get('/api/modbus/registers?device_id=hasty&table=holding&address=0&count=125')
  t.is(answer.status, 502)
  // The last request may still be on its way when the reader has given up.
  await until(() => peer.asked.length >= 7, 'seven requests')
  t.is(peer.asked.length, 7)
})

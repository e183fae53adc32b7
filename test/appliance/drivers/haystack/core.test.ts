/** The pure core of the driver: headers, SCRAM, addresses, grids, units, values of points. */
import { pbkdf2Sync } from 'node:crypto'
import test from 'ava'
import { isSameRef, parseHaystackAddress, parseEndpoint } from '#appliance/drivers/haystack/core/address.ts'
import { parseChallenges, parseParams, cookieHeader, takeCookies } from '#appliance/drivers/haystack/core/headers.ts'
import { connectionLines, reportSteps } from '#appliance/drivers/haystack/core/connection-report.ts'
import { HaystackFailure } from '#appliance/drivers/haystack/core/failure.ts'
import {
  errorOf,
  type Grid,
  cellKind,
  makeGrid,
  makeNumber,
  makeRef,
  MARKER,
  numberOf,
  takeGrid,
} from '#appliance/drivers/haystack/core/grid.ts'
import { type HaystackPoint, pointState } from '#appliance/drivers/haystack/core/point.ts'
import { checkServerFinal, clientFinal, clientFirst, readServerFirst } from '#appliance/drivers/haystack/core/scram.ts'
import { haystackConversion } from '#appliance/drivers/haystack/core/unit.ts'
import { checkFilter, decodeGrid, encodeGrid, formatOf } from '#appliance/drivers/haystack/codec.ts'
import { writeHaysonGrid, writeZincGrid, type SimGrid } from '#scripts/simulator/haystack/values.ts'
import { type HaystackClient, isServerAlive } from '#appliance/drivers/haystack/client.ts'
import { point, RETRY_POLICY } from './harness.ts'

const NONCE = 'rOprNGfwEbeRWgbNEkqO'
/** The exchange of RFC 7677, section 3: user "user", password "pencil". */
const FIRST = `r=${NONCE}%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`

test('the SCRAM messages are those of RFC 7677', t => {
  const first = clientFirst('user', NONCE)
  t.is(first.message, `n,,n=user,r=${NONCE}`)
  const server = readServerFirst(FIRST, NONCE)
  if (typeof server === 'string') return t.fail(server)
  const salted = pbkdf2Sync('pencil', server.salt, server.iterations, 32, 'sha256')
  const { message, signature } = clientFinal(first.bare, server, salted)
  t.is(message, `c=biws,r=${server.nonce},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=`)
  t.is(checkServerFinal('v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=', signature), undefined)
  t.regex(checkServerFinal('v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=', signature)!, /did not prove/)
  t.regex(checkServerFinal('', signature)!, /did not prove/)
  t.is(checkServerFinal('e=invalid-proof', signature), 'the server refuses the login: invalid-proof')
})

test('separators in a user name are escaped', t => {
  t.is(clientFirst('a=b,c', 'x').message, 'n,,n=a=3Db=2Cc,r=x')
})

for (const [first, why] of [
  ['', /no nonce/],
  ['r=other,s=AA==,i=4096', /does not begin with ours/],
  [`r=${NONCE},s=AA==,i=4096`, /does not begin with ours/],
  [`r=${NONCE}x,s=AA==,i=100`, /100 iterations/],
  [`r=${NONCE}x,s=AA==,i=99999999`, /99999999 iterations/],
  [`r=${NONCE}x,s=AA==,i=4096x`, /iterations/],
  [`r=${NONCE}x,s=,i=4096`, /salt/],
] as const) {
  test(`an invalid first message of a server is refused: ${first || 'empty'}`, t => {
    t.regex(readServerFirst(first, NONCE) as string, why)
  })
}

test('several challenges in one header are separated, with parameters and quotes', t => {
  t.deepEqual(parseChallenges('scram hash=SHA-256, handshakeToken=aGVsbG8='), [
    { scheme: 'scram', params: { hash: 'SHA-256', handshaketoken: 'aGVsbG8=' } },
  ])
  t.deepEqual(parseChallenges('Basic realm="a, b \\" c", SCRAM handshakeToken=x , data=bj1h, Negotiate'), [
    { scheme: 'basic', params: { realm: 'a, b " c' } },
    { scheme: 'scram', params: { handshaketoken: 'x', data: 'bj1h' } },
    { scheme: 'negotiate', params: {} },
  ])
  t.deepEqual(parseChallenges(''), [])
  t.deepEqual(parseChallenges(', ,=,"'), [])
  t.deepEqual(parseParams('authToken=web-1,hash=SHA-256, data=dj0='), { authtoken: 'web-1', hash: 'SHA-256', data: 'dj0=' })
})

test('cookies are sent back unchanged until the server deletes them', t => {
  const first = takeCookies(new Map(), ['a=1; Path=/; HttpOnly', 'b="x=y"; Secure', 'nonsense', '=3', `long=${'x'.repeat(5000)}`])
  t.is(cookieHeader(first), 'a=1; b="x=y"')
  const second = takeCookies(first, ['a=; Max-Age=0', 'b=2; max-age = 0', 'c=3'])
  t.is(cookieHeader(second), 'c=3')
  t.is(cookieHeader(new Map()), undefined)
  const many = takeCookies(
    new Map(),
    Array.from({ length: 50 }, (_, i) => `c${i}=1`),
  )
  t.is(many.size, 20)
})

test('an endpoint is an http address without secrets', t => {
  t.is((parseEndpoint('https://host/api/demo') as URL).href, 'https://host/api/demo/')
  t.is((parseEndpoint('http://10.0.0.5:8080/haystack/') as URL).href, 'http://10.0.0.5:8080/haystack/')
  for (const text of [
    '',
    ' ',
    'host/api',
    'ftp://host/',
    'file:///etc',
    'https://',
    'https://u:p@host/',
    'https://host/?a=1',
    'https://host/#x',
  ]) {
    t.is(typeof parseEndpoint(text), 'string', text)
  }
})

test('an address is a reference or a filter', t => {
  t.deepEqual(parseHaystackAddress('@p:demo:r:2a7c-13.x~1'), { ref: 'p:demo:r:2a7c-13.x~1' })
  t.deepEqual(parseHaystackAddress('point and temp'), { filter: 'point and temp' })
  t.is(typeof parseHaystackAddress('@'), 'string')
  t.is(typeof parseHaystackAddress('@a b'), 'string')
  t.is(checkFilter('point and siteRef->dis == "Lincoln"'), undefined)
  t.regex(checkFilter('point and')!, /neither a reference.*nor a filter/)
  t.true(isSameRef('a-1', 'p:demo:r:a-1'))
  t.true(isSameRef('p:demo:r:a-1', 'a-1'))
  t.false(isSameRef('p:demo:r:a-1', 'p:other:r:a-1'))
  t.false(isSameRef('a-1', 'a-10'))
})

const MIXED: SimGrid = {
  meta: { dis: 'x "y" \\ z' },
  rows: [
    {
      id: { ref: 'a', dis: 'With, a comma' },
      n: { num: -1.5e-3, unit: '°F' },
      x: { kind: 'marker' },
      l: { list: [{ num: 1 }, 'a', null] },
      t: 'ümläut "q"\nline',
    },
    { id: null, n: { num: 'NaN' }, x: { kind: 'na' }, l: { dict: { a: { num: 3 }, m: { kind: 'marker' } } }, t: '' },
    { id: { ref: 'b' }, n: { num: 'INF' }, x: true, l: null, t: { sym: 'op:read' } },
    { id: { ref: 'c' }, n: { num: '-INF' }, x: { kind: 'remove' }, l: { at: '2026-03-01T00:00:00Z' }, t: null },
  ],
}

for (const format of ['zinc', 'hayson'] as const) {
  test(`cells of every kind keep their value in ${format}`, t => {
    const text = format === 'zinc' ? writeZincGrid(MIXED, '3.0') : writeHaysonGrid(MIXED, '3.0')
    const grid = decodeGrid(Buffer.from(text), format)
    if (typeof grid === 'string') return t.fail(grid)
    t.is(grid.meta.dis, 'x "y" \\ z')
    t.deepEqual(grid.cols, ['id', 'n', 'x', 'l', 't'])
    t.deepEqual(
      grid.rows.map(row => ['id', 'n', 'x', 'l', 't'].map(name => cellKind(row[name]))),
      [
        ['ref', 'number', 'marker', 'list', 'str'],
        ['null', 'number', 'na', 'dict', 'str'],
        ['ref', 'number', 'bool', 'null', 'symbol'],
        ['ref', 'number', 'remove', 'dateTime', 'null'],
      ],
    )
    t.deepEqual(
      grid.rows.map(row => numberOf(row.n)),
      [
        { value: -0.0015, unit: '°F' },
        { value: Number.NaN, unit: undefined },
        { value: Infinity, unit: undefined },
        { value: -Infinity, unit: undefined },
      ],
    )
    t.is(grid.rows[0]!.t, 'ümläut "q"\nline')
  })
}

test('a request has the same content in Zinc and Hayson', t => {
  const rows = [{ id: makeRef('p:a:r:1') }, { id: makeRef('b') }]
  const grid = makeGrid(rows, { watchId: 'w "1"', lease: makeNumber(2, 'min'), close: MARKER })
  t.is(encodeGrid(grid, 'zinc'), 'ver:"3.0" watchId:"w \\"1\\"" lease:2min close\nid\n@p:a:r:1\n@b\n')
  t.deepEqual(decodeGrid(Buffer.from(encodeGrid(grid, 'hayson')), 'hayson'), grid)
  t.is(encodeGrid(makeGrid([]), 'zinc'), 'ver:"3.0"\nempty\n')
  t.is(encodeGrid(makeGrid([{ navId: null }]), 'zinc'), 'ver:"3.0"\nnavId\nN\n')
})

for (const [what, value, why] of [
  ['a text', 'x', /not a grid/],
  ['a list', [], /not a grid/],
  ['null', null, /not a grid/],
  ['a dictionary', { a: 1 }, /not a grid/],
  ['JSON of Haystack 3', { meta: {}, cols: [], rows: [] }, /Haystack 3/],
  ['rows that are not a list', { _kind: 'grid', rows: 'x' }, /rows/],
  ['a row that is not a dictionary', { _kind: 'grid', rows: [{}, 3] }, /row 1/],
  ['a column without a name', { _kind: 'grid', cols: [{}], rows: [] }, /column/],
  ['two columns of one name', { _kind: 'grid', cols: [{ name: 'a' }, { name: 'a' }], rows: [] }, /two columns "a"/],
] as const) {
  test(`${what} is refused as a grid`, t => t.regex(takeGrid(value) as string, why))
}

test('an error grid is recognised by its marker, and its reason is shortened to one line', t => {
  const grid = (meta: Grid['meta']): Grid => ({ meta, cols: [], rows: [] })
  t.is(errorOf(grid({})), undefined)
  t.is(errorOf(grid({ err: { _kind: 'marker' }, dis: 'a\n  b' })), 'a b')
  t.is(errorOf(grid({ err: { _kind: 'marker' } })), 'the server gives no reason')
  t.true(errorOf(grid({ err: true, dis: 'x'.repeat(1000) }))!.length < 310)
})

for (const [said, encoding, isRead] of [
  ['text/zinc', 'utf8', true],
  ['text/zinc; charset=utf-8', 'utf8', true],
  ['text/zinc; charset=ISO-8859-1', 'latin1', true],
  ['text/plain; charset="windows-1252"', 'latin1', true],
  // Some servers name the default of their web server, and send UTF-8.
  ['text/plain;charset=iso-8859-1', 'utf8', true],
  ['text/zinc; charset=utf-16', 'utf16le', true],
  ['text/zinc', 'latin1', false],
  ['text/zinc; charset=utf-8', 'latin1', false],
  ['text/zinc; charset=klingon', 'latin1', false],
] as const) {
  test(`an answer in ${encoding} as ${said} ${isRead ? 'is read' : 'is refused'}`, t => {
    const bytes = Buffer.from('\ufeffver:"3.0"\nid,curVal\n@a "Büro",72°F\n', encoding)
    const grid = decodeGrid(encoding === 'latin1' ? bytes.subarray(1) : bytes, 'zinc', said)
    if (!isRead) return void t.is(grid, 'the answer is not valid UTF-8')
    t.deepEqual(typeof grid === 'string' ? grid : grid.rows[0], {
      id: { _kind: 'ref', val: 'a', dis: 'Büro' },
      curVal: { _kind: 'number', val: 72, unit: '°F' },
    })
  })
}

test('the media type decides the format', t => {
  t.is(formatOf('text/zinc; charset=utf-8'), 'zinc')
  t.is(formatOf('TEXT/PLAIN'), 'zinc')
  t.is(formatOf('application/vnd.haystack+json; version=4'), 'hayson')
  t.is(formatOf('application/json'), 'hayson')
  for (const type of ['text/html', '', 'image/png', 'application/zinc+x']) t.is(formatOf(type), undefined)
})

const NUMBER = point('@x', 'degC')
const BOOL = point('@x', 'bool', 'bool', ['off', 'on'])
const ENUM = point('@x', 'enum', 'enum', ['off', 'heat', 'cool'])
const FREE = point('@x', 'enum', 'enum')
const STRING = point('@x', 'enum', 'string')
const num = (val: number | string, unit?: string) => ({ _kind: 'number', val, ...(unit && { unit }) })

const STATES: [what: string, point: HaystackPoint, record: object, value: unknown, quality: string, reason?: RegExp][] = [
  ['a number in the unit of the entry', NUMBER, { curVal: num(21, '°C'), curStatus: 'ok' }, 21, 'good'],
  ['a number in another unit of the kind', NUMBER, { curVal: num(212, '°F') }, 100, 'good'],
  ['a number with the unit in the tag unit', NUMBER, { curVal: 50, unit: '°F' }, 10, 'good'],
  ['a number without any unit', NUMBER, { curVal: 50 }, 50, 'good'],
  [
    'a number in a unit of another quantity',
    NUMBER,
    { curVal: num(3, 'kW') },
    null,
    'bad',
    /in kW, which cannot be converted to degC/,
  ],
  ['a number in an unknown unit', NUMBER, { curVal: num(3, '_mine') }, null, 'bad', /_mine/],
  ['a temperature difference for a temperature', NUMBER, { curVal: num(3, 'Δ°C') }, null, 'bad', /Δ°C/],
  ['not a number', NUMBER, { curVal: num('NaN') }, null, 'bad', /NaN/],
  ['infinity', NUMBER, { curVal: num('INF', '°C') }, null, 'bad', /Infinity/],
  ['not available', NUMBER, { curVal: { _kind: 'na' } }, null, 'bad', /is a na,/],
  ['no value', NUMBER, { curStatus: 'ok' }, null, 'bad', /no curVal/],
  ['a null value with an error', NUMBER, { curVal: null, curStatus: 'ok', curErr: 'dead' }, null, 'bad', /no curVal; dead/],
  ['a text for a number', NUMBER, { curVal: '21' }, null, 'bad', /text "21"/],
  ['a flag for a number', NUMBER, { curVal: true }, 1, 'good'],
  ['a list', NUMBER, { curVal: [1] }, null, 'bad', /is a list,/],
  ['a flag', BOOL, { curVal: false }, false, 'good'],
  ['a flag as a number', BOOL, { curVal: 1 }, true, 'good'],
  ['a flag as another number', BOOL, { curVal: 2 }, null, 'bad', /cannot be a bool/],
  ['a flag as its text', BOOL, { curVal: 'on' }, true, 'good'],
  ['a flag as an unknown text', BOOL, { curVal: 'maybe' }, null, 'bad', /maybe/],
  ['a marker for a flag', BOOL, { curVal: { _kind: 'marker' } }, null, 'bad', /is a marker,/],
  ['a state as text', ENUM, { curVal: 'cool' }, 'cool', 'good'],
  ['an unknown state', ENUM, { curVal: 'dry' }, null, 'bad', /not one of the states/],
  ['a state as number', ENUM, { curVal: 2 }, 2, 'good'],
  ['a state where no states are named', FREE, { curVal: 'dry' }, 'dry', 'good'],
  ['a text', STRING, { curVal: 'hello' }, 'hello', 'good'],
  ['a number for a text', STRING, { curVal: 3 }, null, 'bad', /cannot be a string/],
  ['a stale value', NUMBER, { curVal: num(21, '°C'), curStatus: 'stale' }, 21, 'stale', /curStatus is stale/],
  [
    'a device that is down',
    NUMBER,
    { curVal: num(21, '°C'), curStatus: 'down', curErr: 'no ping' },
    null,
    'bad',
    /curStatus is down: no ping/,
  ],
  ['a device in fault', NUMBER, { curStatus: 'fault' }, null, 'bad', /curStatus is fault/],
  ['a point that is disabled', NUMBER, { curVal: num(21, '°C'), curStatus: 'disabled' }, null, 'bad', /disabled/],
  ['a remote that is down', NUMBER, { curVal: num(21, '°C'), curStatus: 'remoteDown' }, null, 'bad', /remoteDown/],
  ['an unknown curStatus', NUMBER, { curVal: num(21, '°C'), curStatus: 'odd' }, 21, 'uncertain', /curStatus is odd/],
]
for (const [what, at, record, value, quality, reason] of STATES) {
  test(`the value of a point from its record: ${what}`, t => {
    const state = pointState(record as Record<string, unknown>, at)
    if (typeof value === 'number') t.true(Math.abs((state.value as number) - value) < 1e-9, String(state.value))
    else t.is(state.value as unknown, value)
    t.is(state.quality as string, quality)
    if (reason) t.regex(state.reason!, reason)
    else t.is(state.reason, undefined)
  })
}

test('the case of units matters', t => {
  t.deepEqual(haystackConversion('MW', 'kW'), { scale: 1000, offset: 0 })
  for (const unit of ['mW', 'C', 'F', 'KW', 'PA', ''])
    t.is(haystackConversion(unit, 'kW') ?? haystackConversion(unit, 'degC'), undefined, unit)
  for (const [unit, code] of [
    ['°F', 'degF'],
    ['inH₂O', 'inwc'],
    ['gal/min', 'gpm'],
    ['cfm', 'cfm'],
    ['%RH', 'percent'],
    ['kWh', 'kWh'],
    ['ppm', 'ppm'],
  ]) {
    t.deepEqual(haystackConversion(unit!, code!), { scale: 1, offset: 0 }, unit)
  }
})

test('a report names the failed step, the steps before it and those not reached', t => {
  const failure = new HaystackFailure('host: the certificate has expired', { step: 'tls', advice: 'renew it' })
  const steps = reportSteps(new URL('https://host/api/'), 'scram', failure)
  t.deepEqual(
    steps.map(({ step, state }) => `${step} ${state}`),
    ['dns ok', 'tcp ok', 'tls failed', 'hello not_reached', 'auth not_reached', 'op not_reached', 'parse not_reached'],
  )
  const plain = reportSteps(new URL('http://10.0.0.1/api/'), 'basic', undefined)
  t.deepEqual(
    plain.map(({ step, state }) => `${step} ${state}`),
    ['dns not_used', 'tcp ok', 'tls not_used', 'hello not_used', 'auth ok', 'op ok', 'parse ok'],
  )
  const lines = connectionLines({
    ok: false,
    endpoint: 'https://host/api/',
    auth: 'scram',
    steps,
    server: null,
    formats: null,
    watches: null,
    point: null,
  })
  t.regex(lines.join('\n'), /FAILED: host: the certificate has expired\n.*→ renew it\n.*not reached/)
})

test('only a failure of the server says that it is dead; an error of the program goes on', async t => {
  const asked = new HaystackFailure('grid', { step: 'parse' })
  const clientOf = (error: Error | undefined) =>
    ({ about: () => (error ? Promise.reject(error) : Promise.resolve()) }) as unknown as HaystackClient
  t.true(await isServerAlive(clientOf(undefined), asked, RETRY_POLICY))
  t.false(await isServerAlive(clientOf(new HaystackFailure('gone', { step: 'op' })), asked, RETRY_POLICY))
  await t.throwsAsync(isServerAlive(clientOf(new TypeError('a defect')), asked, RETRY_POLICY), { instanceOf: TypeError })
  t.false(await isServerAlive(clientOf(undefined), new HaystackFailure('login', { step: 'auth' }), RETRY_POLICY))
})

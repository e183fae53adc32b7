/** The list of devices as it is drawn: what is counted, and what is left out. */
import test from 'ava'
import { type State, STATES } from '#shared/central/ui/icons.ts'
import { type DeviceRow, devicesBody, type DevicesModel, rttWords } from '#appliance/pages/devices.view.ts'

const status = (state: State): NonNullable<DeviceRow['poll']> => ({
  device_id: 'd',
  state,
  since: '2026-03-01T10:00:00Z',
  rtt_ms_p50: 12,
  rtt_ms_p95: 40,
  reads: 9,
  errors: 2,
  reads_1h: 9,
  errors_1h: 2,
  last_ok_at: null,
  last_error: 'no answer',
  next_due_at: null,
  batch_size: null,
})
const row = (rest: Partial<DeviceRow> = {}): DeviceRow => ({
  device_id: 'd/1',
  name: 'Meter <1>',
  where: null,
  protocol: 'modbus',
  poll: status('ok'),
  points: 7,
  points_ok: 5,
  ...rest,
})
const none = Object.fromEntries(STATES.map(one => [one, 0])) as Record<State, number>

const textOf = (model: Partial<DevicesModel>): string =>
  String(
    devicesBody({
      here: { now: Date.parse('2026-03-01T12:00:00Z'), timezone: 'UTC' } as DevicesModel['here'],
      running: true,
      traffic: [],
      rows: [],
      counts: none,
      state: undefined,
      part: { page: 1, pages: 1 },
      q: '',
      refusal: undefined,
      links: [],
      user: undefined,
      csrf: '',
      ...model,
    }),
  )

/** Figures of the choices, in their order. */
const choices = (page: string): number[] => Array.from(page.matchAll(/<span class="count">(\d+)<\/span>/g), ([, n]) => Number(n))

test('the list of devices says that nothing is written to them', t => {
  t.true(textOf({}).includes('Nothing is ever written to a device.'))
  t.notRegex(textOf({ rows: [row()] }), /\b(release|write|command)\b.*<\/button>/i)
})

test('the choices count all devices, and those of each state that has any', t => {
  const counts = { ...none, fault: 1, down: 2, ok: 30 }
  t.deepEqual(choices(textOf({ counts })), [33, 1, 2, 30])
  t.deepEqual(choices(textOf({ counts, state: 'stale' })), [33, 1, 2, 0, 30], 'the chosen state stays')
  t.deepEqual(choices(textOf({})), [0])
})

test('the chosen state is marked, and no other', t => {
  const page = textOf({ counts: { ...none, down: 2, ok: 3 }, state: 'down' })
  t.deepEqual(
    Array.from(page.matchAll(/<a href="([^"]+)" aria-current="page"/g), ([, href]) => href),
    ['/devices?state=down'],
  )
  t.regex(textOf({}), /<a href="\/devices" aria-current="page"/)
})

test('devices that are not shown are counted, none are not spoken of', t => {
  const second = textOf({ rows: [row()], part: { page: 2, pages: 3 }, state: 'down', q: 'roof 1' })
  t.regex(second, /Page 2 of 3/)
  t.regex(second, /href="\/devices\?state=down(&amp;|&)q=roof\+1(&amp;|&)page=3">Next/)
  t.regex(textOf({ q: 'roof' }), /No device has “roof” in its name, id or address/)
  t.notRegex(textOf({ rows: [row()] }), /choose a state above/)
})

test('a device tells how many of its points are well, or how many it has where another process reads them', t => {
  t.regex(textOf({ rows: [row()] }), /<div>5 of 7 ok<\/div>/)
  t.regex(textOf({ rows: [row({ points_ok: 0 })] }), /<div>0 of 7 ok<\/div>/)
  t.regex(textOf({ rows: [row({ points_ok: null })] }), /data-label="Points"><div>7<\/div>/)
  t.regex(textOf({ rows: [row()] }), /<div>2 <span class="muted">in 9 reads of the last hour<\/span><\/div>/)
  t.regex(textOf({ rows: [row({ poll: null })] }), /data-label="Errors"><div>–<\/div>/)
})

test('an error is shown while it is still wrong', t => {
  for (const state of STATES) {
    const page = textOf({ rows: [row({ poll: status(state) })] })
    t.is(/<span class="sentence error">no answer</.test(page), ['down', 'fault', 'stale'].includes(state), state)
  }
})

test('a round trip is whole milliseconds, never none', t => {
  t.is(rttWords(null), '–')
  t.is(rttWords({ ...status('ok'), rtt_ms_p50: 0.2, rtt_ms_p95: 1.6 }), '1 ms, 95 % within 2 ms')
  t.is(rttWords({ ...status('ok'), rtt_ms_p50: 12.4, rtt_ms_p95: null }), '12 ms')
})

test('a device that answers and fails often says how often, and one that seldom fails or was seldom read does not', t => {
  const shown = (reads_1h: number, errors_1h: number, state: State = 'ok') =>
    /(\d+) % of its reads had errors/.exec(textOf({ rows: [row({ poll: { ...status(state), reads_1h, errors_1h } })] }))?.[1]
  t.is(shown(1000, 800), '80')
  t.is(shown(1000, 51), '5')
  t.is(shown(1000, 50), undefined)
  t.is(shown(9, 9), undefined)
  t.is(shown(1000, 800, 'down'), undefined, 'its state says more')
})

test('the bytes of each protocol that was used are shown with their unit', t => {
  const traffic = [
    { protocol: 'bacnet', sent_bytes: 12_340, received_bytes: 5_600_000 },
    { protocol: 'modbus', sent_bytes: 0, received_bytes: 0 },
  ]
  t.regex(textOf({ traffic }), /Since the start of the program BACnet\/IP: 12\.3 kB sent, 5\.6 MB received\./)
  t.notRegex(textOf({}), /Since the start of the program/)
})

test('a device has the bytes of its polling, and a dash where nobody counts', t => {
  const counted = { ...status('ok'), sent_bytes: 1240, received_bytes: 3_456_000 }
  t.regex(textOf({ rows: [row({ poll: counted })] }), /data-label="Traffic"><div>1.2 kB sent, 3.5 MB received</)
  t.regex(textOf({ rows: [row()] }), /data-label="Traffic"><div>–</)
})

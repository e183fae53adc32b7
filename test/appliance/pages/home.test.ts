import test from 'ava'
import { DAY, HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import { type HomeModel, homeBody } from '#appliance/pages/home.view.ts'
import { readMachine } from '#shared/node/machine.ts'
import type { ShownRun } from '#shared/central/ui/run-panel.ts'
import { levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { overridesOf } from '#shared/core/priority/override-rows.ts'
import { CommandStates } from '#appliance/pages/command-states.ts'
import { type Health, healthSentence } from '#appliance/pages/home-health.ts'
import { overridesSummary } from '#appliance/pages/overrides-tile.ts'
import { BUILDING, COOLING, NOW } from '../../support/page-fixture.ts'
import { IN_GERMAN } from '../../support/in-german.ts'
import { inLanguage } from '#shared/node/http/language.ts'
import { HISTORY, journalOf, scheduleOf, LEVEL_NAMES, SITE } from '../../support/overrides-fixture.ts'

const HOME: HomeModel = {
  identity: { name: 'Plant room', edge_id: 'edge-1', site_id: 'riverside', building: 'Riverside School' },
  version: '0.1.0+d792499f00aa',
  stepsLeft: 0,
  here: { now: NOW, timezone: 'America/Chicago' },
  poll: {
    running: true,
    points: { ok: 30, stale: 0, down: 0, fault: 0, disabled: 0, unknown: 0 },
    devices: [
      {
        device_id: 'ahu',
        name: 'AHU',
        state: 'ok',
        since: NOW - DAY,
        last_ok_at: NOW - 5 * SECOND,
        last_error: null,
      },
    ],
    last_read_at: NOW - 5 * SECOND,
  },
  unstored_since: null,
  open: { 1: 0, 2: 0, 3: 0, data: 0, overrides: 0 },
  worst: [],
  waste: [],
  unit_system: 'si',
  history: [],
  overrides: {
    seen: 12,
    held: 0,
    aged: 0,
    outOfService: 0,
    oldest: undefined,
    last_visit_at: NOW - 9 * MINUTE,
    off: undefined,
    damage: undefined,
  },
  run: {
    running: false,
    live: [],
    nameOf: id => id,
    last_error: null,
    last: { finished_at: NOW - 12 * MINUTE, seconds: 2.34, counts: { fault: 0, pass: 9, gated: 2, no_data: 1 }, failed: 0 },
    next_at: NOW + 2 * HOUR,
  },
  hub: {
    state: 'up',
    backlog: 0,
    oldest_at: null,
    drain_per_min: null,
    dropped: 0,
    thinned: 0,
    rejected: 0,
    last_ack_at: NOW - 9 * SECOND,
    cert_not_after: NOW + 300 * DAY,
    clock_offset_ms: null,
  },
  box: { disk: { free_bytes: 40e9, total_bytes: 60e9 }, clock_synced: true, started_at: NOW - 4 * DAY },
  isClockSet: true,
  user: { name: 'agent', role: 'operator', mayOperate: true },
  csrf: 'token',
}
/** What a reader sees, without the markup. */
const words = (model: Partial<HomeModel>) =>
  homeBody({ ...HOME, ...model })
    .text.replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
const alarms = (model: Partial<HomeModel>) =>
  [...homeBody({ ...HOME, ...model }).text.matchAll(/class="card tile alarm" id="tile-(\w+)"/g)].map(([, id]) => id)

const LIVE: ShownRun = {
  run: {
    run_id: 'r',
    building_id: 'b',
    trigger: 'schedule',
    state: 'running',
    asked_at: NOW,
    started_at: NOW,
    finished_at: null,
  },
  progress: { step: 'evaluation', equipment_done: 3, equipment_total: 8, rules: 36 },
}
const { poll, run, hub, box, overrides } = HOME
const OFF = 'The priority scanner is off: SERVICE_PRIORITY_SCAN_ENABLED=1 switches it on'
for (const [what, model, said, loud] of [
  ['all is well', {}, 'All quiet No equipment fault is open. As of the run at 13:50 , 12 min ago', []],
  ['all points answer', {}, '30 ok 30 ok Last answer 14:02 , 5 s ago', []],
  ['faults are open', { open: { 1: 2, 2: 0, 3: 1, data: 4, overrides: 0 } }, '3 open 2 1 high 0 2 medium 1 3 low', ['faults']],
  [
    'faults are named',
    {
      open: { 1: 1, 2: 0, 3: 0, data: 0, overrides: 0 },
      worst: [{ finding: COOLING, note: { ack: 'unacked' }, priority: 1, equipment: 'Air handler 1' }],
    },
    'active, not acknowledged Supply air too warm with the cooling valve wide open Air handler 1, since 08:02 , 6 h ago',
    ['faults'],
  ],
  ['sensors need a look', { open: { 1: 0, 2: 0, 3: 0, data: 4, overrides: 0 } }, '4 open about sensors and data', []],
  ['no run has finished', { run: { ...run, last: null } }, 'Not looked yet No run has finished yet', []],
  [
    'a rule failed',
    { run: { ...run, last: { ...run.last!, failed: 1 } } },
    '0 in fault, 9 passed, 2 not applicable, 1 without data, 1 failed ; took 2.3 s',
    ['run'],
  ],
  [
    'a run took long',
    { run: { ...run, last: { ...run.last!, seconds: 3283.9 } } },
    '0 in fault, 9 passed, 2 not applicable, 1 without data; took 55 min',
    [],
  ],
  ['a run came to nothing', { run: { ...run, last_error: 'no memory' } }, 'The newest run failed: no memory', ['run']],
  ['a run is overdue', { run: { ...run, next_at: NOW - HOUR } }, 'Next run due since 13:02 , 1 h (overdue)', ['run']],
  [
    'a run is under way',
    { run: { ...run, running: true, live: [LIVE] } },
    'b : runs since 14:02 , now: looking at equipment, 3 of 8 done with 36 rules',
    [],
  ],
  [
    'points are stale',
    { poll: { ...poll!, points: { ...poll!.points, ok: 20, stale: 9, fault: 1 } } },
    '10 of 30 not ok 1 ! fault 9 stale 20 ok',
    ['points'],
  ],
  ['points are switched off', { poll: { ...poll!, points: { ...poll!.points, disabled: 4 } } }, '30 ok 4 disabled 30 ok', []],
  [
    'polling has stopped',
    { poll: { ...poll!, running: false, last_read_at: null } },
    'Polling has stopped. Last answer never',
    ['points'],
  ],
  ['there is no catalogue', { poll: null }, 'Not polling No device is on the list.', []],
  ['there is no hub', { hub: { ...hub, state: 'off', cert_not_after: null } }, 'Off This box works alone.', []],
  [
    'the hub is away',
    { hub: { ...hub, state: 'connecting', reason: 'refused', backlog: 4120, oldest_at: NOW - HOUR } },
    'Not connected refused 4,120 messages to be sent; the oldest waits since 13:02 , 1 h ago',
    ['hub'],
  ],
  [
    'something was lost',
    { hub: { ...hub, thinned: 4, dropped: 3, rejected: 2 } },
    '4 messages downsampled to one value per 15 min because the outbox was full 3 messages dropped because the outbox was full 2 messages refused by the hub',
    ['hub'],
  ],
  [
    'the outbox began anew',
    { hub: { ...hub, note: 'streams.json cannot be read' } },
    'Since this start everything kept is sent again: streams.json cannot be read',
    [],
  ],
  [
    'the disk fills',
    { box: { ...box, disk: { free_bytes: 1e9, total_bytes: 60e9 } } },
    'Disk free Tight: 1.0 GB of 60.0 GB',
    ['box'],
  ],
  ['nobody holds a point', {}, 'None No override at 12 points. Last visit ended 13:53 , 9 min ago', []],
  [
    'points are overridden',
    { overrides: { ...overrides, held: 3, aged: 2, outOfService: 1, oldest: { since: NOW - 9 * DAY, before: true } } },
    '3 overrides 2 older than a day Oldest since Wed 11 Nov 14:02 , 9 d ago, present at the first visit 1 point out of service',
    [],
  ],
  [
    'overrides are being read',
    { overrides: { ...overrides, held: 1, aged: undefined } },
    '1 override Reading the history to find their age.',
    [],
  ],
  ['the scanner is off', { overrides: { ...overrides, seen: 0, last_visit_at: null, off: OFF } }, `No visits ${OFF}.`, []],
  [
    'the first visit is awaited',
    { overrides: { ...overrides, seen: 0, last_visit_at: null } },
    'Not visited yet Last visit ended never',
    [],
  ],
  [
    'the priority history is damaged',
    { overrides: { ...overrides, seen: 0, off: OFF, damage: 'head.json, byte 0: what' } },
    'The priority history is not recorded: head.json, byte 0: what',
    ['overrides'],
  ],
  [
    'the hub is not reached and has refused the box',
    { hub: { ...hub, state: 'connecting', notices: ['2 processes run under this edge id'], reason: 'The session was ended' } },
    'Not connected 2 processes run under this edge id. The session was ended',
    ['hub'],
  ],
  [
    'the hub refuses the box',
    { hub: { ...hub, notices: ['The hub refuses what this box says of itself: building b belongs to another site'] } },
    'building b belongs to another site.',
    ['hub'],
  ],
  ['the certificate ends soon', { hub: { ...hub, cert_not_after: NOW + 20 * DAY } }, 'Ends soon: 20 days left', ['box']],
  ['the certificate has ended', { hub: { ...hub, cert_not_after: NOW - DAY } }, 'ended 24 h ago', ['box']],
  [
    'a viewer looks',
    { user: { name: 'viewer', role: 'viewer', mayOperate: false } },
    'Needs the operator role; you are signed in as viewer.',
    [],
  ],
] as const) {
  test(`when ${what}, Home says so`, t => {
    t.true(words(model as Partial<HomeModel>).includes(said), words(model as Partial<HomeModel>))
    t.deepEqual(alarms(model as Partial<HomeModel>), [...loud])
  })
}

test('silent devices are listed, the worst first, and a long list is cut; the others are counted', t => {
  const device = (i: number) => ({
    ...poll!.devices[0]!,
    device_id: `d${i}`,
    name: `D${i}`,
    ...(i < 12 && { state: i === 11 ? ('down' as const) : ('stale' as const), last_error: 'no answer' }),
  })
  const said = words({ poll: { ...poll!, devices: Array.from({ length: 20 }, (_, i) => device(i)) } })
  t.true(said.indexOf('D11') < said.indexOf('D0 '))
  t.regex(said, /12 of 20 silent/)
  t.regex(said, /no answer/)
  t.regex(said, /and 4 more, none worse/)
  t.notRegex(said, /D15/)
})

const kWh = (mid: number) => ({ carrier: 'electricity' as const, low: mid, mid, high: mid })
for (const [what, health, said] of [
  ['all is well', {}, 'Nothing needs you. Everything was checked 12\u00a0min ago.'],
  ['nothing was checked', { checked_at: null }, 'Nothing is known to be wrong. No check for faults has finished yet.'],
  [
    'several things are wrong',
    {
      open: { ...HOME.open, 1: 1, 3: 1 },
      waste: [{ building: BUILDING, energy: [kWh(120)], prices: undefined }],
      silent: 1,
      aged: 2,
    },
    '2 faults are open, with a waste of about 120 kWh a day; 1 device is silent; 2 overrides are older than a day. All else was checked 12\u00a0min ago.',
  ],
  [
    'readings wait for a disk',
    { unstored_since: NOW - 3 * MINUTE, silent: 1 },
    'Readings have not been stored for 3 min (see the page System); 1 device is silent. All else was checked 12\u00a0min ago.',
  ],
  ['one thing is wrong', { open: { ...HOME.open, 2: 1 } }, '1 fault is open. All else was checked 12\u00a0min ago.'],
] as [string, Partial<Health>, string][]) {
  test(`the first sentence of Home when ${what}`, t => {
    const calm = { unstored_since: null, open: HOME.open, waste: [], silent: 0, aged: 0, checked_at: NOW - 12 * MINUTE, now: NOW }
    t.is(healthSentence({ ...calm, ...health }).text.replace(/<[^>]+>/g, ''), said)
  })
}

test('Home in German says whole sentences, writes figures the German way, and marks the same alarms', t => {
  const [device] = HOME.poll!.devices
  const model: Partial<HomeModel> = {
    open: { ...HOME.open, 2: 1 },
    waste: [{ building: BUILDING, energy: [kWh(120)], prices: undefined }],
    poll: { ...HOME.poll!, devices: [{ ...device!, state: 'down' }] },
    overrides: { ...HOME.overrides, aged: 2 },
    hub: { ...HOME.hub, clock_offset_ms: -6 * MINUTE },
  }
  const [text, marked] = inLanguage(IN_GERMAN, () => [words(model), alarms(model)])
  for (const said of [
    /1 Störung ist offen, mit einem Mehrverbrauch von etwa 120 kWh am Tag; 1 Gerät antwortet nicht; 2 Übersteuerungen sind älter als ein Tag\. Alles andere wurde vor 12 min geprüft\./,
    /Dauer 2,3 s/,
    /40,0 GB von 60,0 GB/,
    /geht 6 min gegenüber dem Hub nach/,
  ]) {
    t.regex(text, said)
  }
  t.deepEqual(marked, alarms(model))
  t.true(marked.includes('faults'))
})

test('what was counted over the last day is a small line, as long as it is known for', t => {
  const sample = (hours: number, faults: number) => ({ at: NOW - hours * HOUR, faults, silent: null, overrides: 0, backlog: 0 })
  const page = homeBody({ ...HOME, history: [sample(12, 0), sample(6, 2)] }).text
  t.regex(page, /<path class="line" d="M80 27H120V3H160"\/>/)
  t.is(page.match(/class="spark"/g)?.length, 3)
})

test('a clock from before the version is marked, with what follows from it', t => {
  t.notRegex(words(HOME), /before this version/)
  t.regex(words({ isClockSet: false }), /before this version was made: no rules run, and readings are kept apart/)
  t.true(alarms({ isClockSet: false }).includes('box'))
})

test('the box tells the room on its disk', async t => {
  const state = await readMachine('.', NOW)
  t.true(state.disk.free_bytes > 0 && state.disk.free_bytes <= state.disk.total_bytes)
  t.is(state.started_at, NOW)
})

test('what Home says of overrides is what the page of overrides says', async t => {
  const journal = journalOf(HISTORY)
  const commandStates = new CommandStates(journal)
  const summary = overridesSummary({ journal, schedule: scheduleOf(), commandStates, levels: LEVEL_NAMES })
  t.like(summary(NOW), { seen: 6, held: 4, aged: undefined, outOfService: 1, oldest: undefined, off: undefined })
  const commands = await commandStates.current()
  const [oldest] = overridesOf(commands, levelMeanings(SITE.priority_levels), () => ({ name: '' }) as never, NOW)
  const ages = overridesOf(commands, levelMeanings(SITE.priority_levels), () => ({ name: '' }) as never, NOW)
  t.is(summary(NOW).aged, ages.filter(({ command }) => NOW - command.held_since > DAY).length)
  t.deepEqual(summary(NOW).oldest, { since: oldest!.command.held_since, before: oldest!.command.otherwise_at === null })
})

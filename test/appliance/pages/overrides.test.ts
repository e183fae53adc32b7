import test from 'ava'
import { levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { CommandTracker, commandPeriods } from '#shared/core/priority/command-state.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { whyNot } from '#shared/central/ui/overrides-list.ts'
import { overridesPages } from '#appliance/pages/overrides.route.ts'
import { CommandStates } from '#appliance/pages/command-states.ts'
import { NOW } from '../../support/page-fixture.ts'
import {
  CATALOGUE,
  HISTORY,
  journalOf,
  reading,
  SCANNER,
  scheduleOf,
  LEVEL_NAMES,
  SITE,
} from '../../support/overrides-fixture.ts'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'
import { signedIn } from '../../support/signed-in.ts'

const words = (text: string) =>
  text
    .replace(/<(style|script)[^]*?<\/\1>/g, ' ')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')

async function open(t: import('ava').ExecutionContext, journal = journalOf(HISTORY), schedule = scheduleOf()) {
  const site = await openSite({
    product: 'appliance',
    more: layout =>
      overridesPages({
        journal,
        schedule,
        catalogue: () => CATALOGUE,
        site: SITE,
        levels: LEVEL_NAMES,
        layout,
        commandStates: new CommandStates(journal),
      }),
  })
  t.teardown(site.close)
  return { site, ...(await signedIn(site.url, 'agent', PASSWORDS.agent)) }
}

test('the oldest override is listed first, with slot, value, default, first visit and flips', async t => {
  const { get } = await open(t)
  const text = words(await (await get('/overrides')).text())
  t.regex(text, /4 overrides at the newest visit of 6 points/)
  const order = ['Exhaust fan, kitchen', '=HYPERLINK', 'AHU-1 cooling valve', 'AHU-1 supply air set point'].map(name =>
    text.indexOf(name),
  )
  t.true(order[0]! > 0 && order[0]! < order[2]! && order[1]! < order[2]! && order[2]! < order[3]!, String(order))
  t.regex(text, /AHU-1 cooling valve Air handler 1 H P8 Manual operator 100 % default 0 %/)
  t.regex(text, /present at first visit/)
  t.regex(text, /H P1 Manual life safety On \(1\) default Off \(0\)/)
  t.regex(text, /AHU-1 supply air set point Air handler 1 H P8 Manual operator 60 °F default 0 °F .* 3 in 5 visits since/)
  t.regex(text, /Out of service .* AHU-1 outdoor air damper/)
  t.regex(text, /offers neither release nor write/)
  t.regex(text, /1,440, on this box only/)
})

test('the page of overrides says that it only reads, how an override is released, and offers no way to do it', async t => {
  const { get } = await open(t)
  const page = await (await get('/overrides')).text()
  t.regex(words(page), /Plenum only reads: it offers neither release nor write\. Release the slot at the operator workstation/)
  const buttons = Array.from(page.matchAll(/<button[^>]*>(.*?)<\/button>/gs), ([, text]) => text!)
  t.deepEqual(
    buttons.filter(text => /releas|write|relinquish/i.test(text)),
    [],
  )
})

test('an override that is gone at a newer visit is listed as released for a week, and not while another level holds the point', async t => {
  const visits = (object: string, ...seen: [age: number, held: Record<number, number>][]) =>
    seen.map(([age, held]) => reading(NOW - age, object, held))
  const { get } = await open(
    t,
    journalOf([
      ...visits('analog-output,4', [9 * DAY, { 10: 42 }], [8 * DAY, { 8: 100 }], [3 * DAY, { 8: 100 }], [2 * DAY, { 10: 42 }]),
      ...visits('analog-value,3', [20 * DAY, { 8: 60 }], [8 * DAY, { 16: 55 }]),
      ...visits('binary-output,1', [2 * DAY, { 8: 1 }], [DAY, { 1: 1 }]),
      ...visits('binary-output,2', [2 * DAY, { 16: 1 }], [DAY, { 10: 1 }]),
    ]),
  )
  const [, text = ''] = words(await (await get('/overrides')).text()).split('Released in the last 7 days')
  t.regex(
    text,
    /^ Point Slot Held from Gone at Device and object AHU-1 cooling valve Air handler 1 H P8 Manual operator Thu 12 Nov [\d:]+ Wed 18 Nov [\d:]+ , 2 d ago still held at Tue 17 Nov [\d:]+ Controller/,
  )
  t.notRegex(text, /set point|fan/)
  const { get: another } = await open(t)
  t.notRegex(words(await (await another('/overrides')).text()), /Released in the last/)
})

test('the duration of a round is shown, with a warning when it is more than a day', async t => {
  const page = async (round: { round_outputs_secs?: number; round_secs?: number }) => {
    const { get } = await open(t, journalOf(HISTORY), scheduleOf(round))
    return words(await (await get('/overrides')).text())
  }
  const fast = await page({ round_outputs_secs: 7200, round_secs: 86_400 })
  t.regex(fast, /All outputs once in 2 h All points once in 24 h Records kept/)
  const slow = await page({ round_outputs_secs: 7200, round_secs: 90_000 })
  t.regex(slow, /All points once in 25 h Too slow A full round takes more than a day/)
  t.notRegex(await page({}), /once in/)
  t.notRegex(await page({ round_outputs_secs: 0, round_secs: 3600 }), /All outputs/)
})

test('another device at an address is shown with the reason, and records lost from the end are counted', async t => {
  const other = { device_id: 'ahu-9', device_instance: 9, since: NOW - HOUR, reason: 'another device answers <here>' }
  const { get } = await open(
    t,
    journalOf(HISTORY, { journal: 'repaired', lost: 3 }),
    scheduleOf({ other_devices: [other], last_device_id: 'ahu-9' }),
  )
  const text = words(await (await get('/overrides')).text())
  t.regex(
    text,
    /Another device answers at the address of 1 device\. Nothing that it says is kept\. ahu-9 \(device 9\), seen since .*: another device answers &lt;here&gt;/,
  )
  t.regex(text, /The end of the priority history was cut off\. 3 records that had been kept are missing/)
  t.regex(text, /Last device ahu-9 \(device 1007\)/)
})

test('each of two devices of one instance has its own page', async t => {
  const twin = (device_id: string, value: number) =>
    reading(
      NOW - HOUR,
      'analog-output,8',
      { 8: value },
      { target: { device_id, device_instance: 1007, object_type: 'analog-output', object_instance: 8 } },
    )
  const { get } = await open(t, journalOf([twin('ahu-1', 11), twin('ahu-2', 22)]))
  const list = await (await get('/overrides')).text()
  for (const [id, value] of [
    ['ahu-1', '11'],
    ['ahu-2', '22'],
  ]) {
    const path = `/overrides/1007/analog-output/8?device_id=${id}`
    t.true(list.includes(`href="${path}"`), path)
    t.regex(words(await (await get(path)).text()), new RegExp(`P8 Manual operator ${value} \\(commands\\)`))
  }
  t.is((await get('/overrides/1007/analog-output/8?device_id=ahu-3')).status, 404)
})

test('the list can be filtered by age', async t => {
  const { get } = await open(t)
  const text = words(await (await get('/overrides?older=7')).text())
  t.regex(text, /4 overrides at the newest visit of 6 points, 3 of them shown/)
  t.notRegex(text, /supply air set point/)
  t.is((await get('/overrides?older=3')).status, 400)
  for (const [query, chosen] of [
    ['', 'All'],
    ['?older=1', 'Older than a day'],
    ['?older=7', 'Older than 7 days'],
  ]) {
    const [choices] = /<nav class="states"[^]*?<\/nav>/.exec(await (await get(`/overrides${query}`)).text())!
    t.deepEqual(
      [...choices.matchAll(/aria-current="page">([^<]*)</g)].map(([, label]) => label),
      [chosen],
      query,
    )
  }
})

test('grouped by equipment, the oldest override decides the order and those of no equipment are last; the CSV is cut alike', async t => {
  const fan = Array.from({ length: 3 }, (_, i) => reading(NOW - (3 - i) * DAY, 'binary-output,1', { 8: 0 }))
  const { get } = await open(t, journalOf([...HISTORY.filter(({ target }) => target.object_type !== 'binary-output'), ...fan]))
  const text = words(await (await get('/overrides?group=equipment')).text())
  t.regex(
    text,
    /Air handler 1 3 AHU-1 cooling valve H P8 .* AHU-1 supply fan H P8 .* AHU-1 supply air set point H P8 .* Of no equipment 1 =HYPERLINK/,
  )
  const cut = await (await get('/overrides?group=equipment&older=1')).text()
  t.regex(words(cut), /4 overrides at the newest visit of 5 points, 3 of them shown/)
  t.true(cut.includes('href="/buildings/school/equipment/ahu-1"'))
  for (const path of [
    '/overrides?group=equipment',
    '/overrides?group=equipment&older=7',
    '/overrides.csv?group=equipment&older=1',
  ])
    t.true(cut.includes(`href="${path.replaceAll('&', '&amp;')}"`), path)
  const lines = (await (await get('/overrides.csv?older=1&group=equipment')).text()).trim().split('\r\n')
  t.deepEqual(
    lines.slice(1).map(line => line.split(',')[2]),
    ['Air handler 1', 'Air handler 1', ''],
  )
  t.is((await get('/overrides?group=floor')).status, 400)
})

test('an input out of service is listed with its set value and without slots', async t => {
  const input = [2, 1].map(hours =>
    reading(NOW - hours * HOUR, 'analog-input,2', {}, { out_of_service: true, present_value: 55, label: 'Outdoor air' }),
  )
  const back = reading(NOW - 30 * MINUTE, 'analog-input,2', {}, { out_of_service: false })
  const { get } = await open(t, journalOf([...HISTORY, ...input]))
  t.regex(words(await (await get('/overrides')).text()), /Out of service .* AHU-1 outdoor air Air handler 1 55 °F/)
  const text = words(await (await get('/overrides/1007/analog-input/2')).text())
  t.regex(text, /Value set by hand 55 °F Out of service yes/)
  t.regex(text, /When it was out of service Out of service seen from 12:02 to 13:02 , 2 visits/)
  t.notRegex(text, /sixteen slots|Relinquish|Commanded/)
  const later = await open(t, journalOf([...HISTORY, ...input, back]))
  t.notRegex(words(await (await later.get('/overrides')).text()), /AHU-1 outdoor air Air handler 1/)
})

test('the page of a point shows its sixteen slots and its command periods', async t => {
  const { get } = await open(t)
  const text = words(await (await get('/overrides/1007/analog-value/3')).text())
  t.regex(text, /Commanded by H P8 Manual operator/)
  t.regex(text, /P8 Manual operator 60 °F \(commands\)/)
  t.regex(text, /P16 Available 55 °F/)
  t.regex(text, /P10 Plant sequence empty/)
  t.is([...text.matchAll(/P8 Manual operator : 60 °F/g)].length, 2)
  t.regex(text, /5 visits/)
  t.is((await get('/overrides/1007/analog-value/99')).status, 404)
})

test('the CSV has every override, and a name that looks like a formula is escaped', async t => {
  const { get } = await open(t)
  const answer = await get('/overrides.csv')
  t.is(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
  const lines = (await answer.text()).trim().split('\r\n')
  t.is(lines.length, 5)
  t.true(lines.some(line => line.includes(`"'=HYPERLINK(""gone"")"`)))
  t.true(lines[1]!.includes('present at first visit'))
  t.true(lines[0]!.endsWith(',out_of_service,object_name'))
  const valve = lines.find(line => line.includes('cooling valve'))!
  t.true(valve.includes(',"analog-output,4",') && valve.endsWith(',AO-4'), valve)
})

const user = { name: 'agent', role: 'operator', mayOperate: true }
const ok = { journal: 'ok' as const, records: 1 }
const REASONS: [string, Parameters<typeof whyNot>[0], RegExp | undefined][] = [
  ['an operator may', { scanner: SCANNER, journal: ok, user }, undefined],
  ['a viewer', { scanner: SCANNER, journal: ok, user: { ...user, role: 'viewer', mayOperate: false } }, /operator role/],
  [
    'switched off',
    { scanner: { ...SCANNER, enabled: false, state: 'disabled' }, journal: ok, user },
    /SERVICE_PRIORITY_SCAN_ENABLED/,
  ],
  ['a visit is on', { scanner: { ...SCANNER, state: 'visiting' }, journal: ok, user }, /in progress/],
  ['a broken journal', { scanner: SCANNER, journal: { journal: 'disabled', reason: 'a gap', records: 0 }, user }, /a gap/],
]
for (const [title, card, why] of REASONS) {
  test(`the button says why it is disabled: ${title}`, t => {
    if (why) t.regex(whyNot(card) ?? '', why)
    else t.is(whyNot(card), undefined)
  })
}

test('the page of an unknown point is not found, and a disabled journal shows the place of damage', async t => {
  const schedule = scheduleOf({ enabled: false, state: 'disabled' })
  const { get } = await open(t, journalOf([], { journal: 'disabled', reason: 'segment 3, byte 40' }), schedule)
  const text = words(await (await get('/overrides')).text())
  t.regex(text, /What was seen cannot be read/)
  t.regex(text, /not recorded any more\. segment 3, byte 40/)
})

test('without a visit the page says whether visits are made', async t => {
  const { get } = await open(t, journalOf([]), scheduleOf({ enabled: false, state: 'disabled' }))
  t.regex(words(await (await get('/overrides')).text()), /No point has been visited: the priority scanner is off/)
})

test('command states are updated with the journal and equal those read from the start', async t => {
  const first = HISTORY.slice(0, 700)
  const journal = journalOf(first)
  const commandStates = new CommandStates(journal)
  await commandStates.current()
  await journal.append(HISTORY.slice(700))
  const sorted = (commands: Awaited<ReturnType<typeof commandStates.current>>) =>
    commands.toSorted((a, b) => a.latest.seq - b.latest.seq)
  t.deepEqual(sorted(await commandStates.current()), sorted(await new CommandStates(journal).current()))
  t.is((await commandStates.current()).length, 6)
})

test('command states are read oldest first in chunks, and reading goes on after an empty page', async t => {
  const journal = journalOf(HISTORY)
  const asked: (number | undefined)[] = []
  let shut = true
  const page: typeof journal.page = query => {
    asked.push(query.before)
    return shut && query.before! > 600 ? { records: [], more: false } : journal.page(query)
  }
  const commandStates = new CommandStates({ state: journal.state, page })
  await commandStates.current()
  t.deepEqual(asked, [501, 1001])
  t.is(commandStates.cached(), undefined, 'an incomplete history has no states')
  await commandStates.current()
  shut = false
  const commands = await commandStates.current()
  t.deepEqual(commandStates.cached(), commands)
  const whole = await new CommandStates(journal).current()
  t.deepEqual(commands, whole)
})

test('a flip is a visit at which another level commands; a changed value of the same level is none', t => {
  const tracker = new CommandTracker()
  const seen: Record<number, number>[] = [{ 16: 1 }, { 16: 2 }, { 8: 3, 16: 2 }, { 8: 4, 16: 2 }, { 16: 2 }]
  const records = seen.map((held, i) => ({ ...reading(NOW + i * HOUR, 'analog-output,1', held), seq: i + 1, changed: [] }))
  for (const record of records) tracker.add(record)
  const [command] = tracker.states()
  t.like(command, {
    held_since: NOW + 4 * HOUR,
    otherwise_at: NOW + 3 * HOUR,
    before: { level: 8, since: NOW + 2 * HOUR },
    visits: 1,
  })
  t.is(command!.flips.length, 2)
  t.deepEqual(
    commandPeriods(records.toReversed()).map(({ level, value, visits }) => [level, value, visits]),
    [
      [16, 2, 1],
      [8, 4, 1],
      [8, 3, 1],
      [16, 2, 1],
      [16, 1, 1],
    ],
  )
})

test('levels 1 to 8 except minimum on/off are overrides unless the site says otherwise', t => {
  const numbers = (settings = levelMeanings()) => settings.flatMap(({ override }, i) => (override ? [i + 1] : []))
  t.deepEqual(numbers(), [1, 2, 3, 4, 5, 7, 8])
  t.deepEqual(
    numbers(
      levelMeanings([
        { level: 8, override: false },
        { level: 10, override: true, name: 'Tablet' },
      ]),
    ),
    [1, 2, 3, 4, 5, 7, 10],
  )
  t.is(levelMeanings([{ level: 10, name: 'Tablet' }])[9]!.name, 'Tablet')
})

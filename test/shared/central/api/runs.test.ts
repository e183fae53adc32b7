/** Runs as the API shows them: real rules in a real process over real history. */
import test, { type ExecutionContext } from 'ava'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { runEvents } from '#shared/central/api/fdd/run-events.ts'
import { childrenWith } from '../../../support/children.ts'
import { warmRule } from '../../../support/rule-texts.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

const START = Date.UTC(2026, 2, 1)
const SPAN = { from: new Date(START).toISOString(), to: new Date(START + DAY).toISOString() }

/** A central with one air handler that is too warm for three hours, and a second building without equipment. */
async function openSite(t: ExecutionContext, given: Parameters<typeof startCentral>[0] = {}): Promise<TestCentral> {
  const site = await startCentral(given)
  t.teardown(site.close)
  const { model } = site.central.context
  const common = { name: '', site_id: 's', timezone: 'UTC', unit_system: 'si' } as const
  for (const building_id of ['b1', 'b2']) model.put({ building: { ...common, building_id } })
  const of = { building_id: 'b1', equipment_id: 'AHU-1' }
  const point = { ...of, kind: 'number', name: '', poll_secs: 300 } as const
  model.put({
    equipment: [{ ...of, equipment_type: 'ahu', name: 'Roof' }],
    points: [
      { ...point, source: { protocol: 'csv', address: 'sat' }, point_id: 'sat', role: 'sa_t', unit: 'degC' },
      { ...point, source: { protocol: 'csv', address: 'fan' }, point_id: 'fan', role: 'fan_status', unit: 'bool' },
    ],
  })
  const samples = Array.from({ length: DAY / (5 * MINUTE) }, (_, i) => START + i * 5 * MINUTE).flatMap(at => [
    { id: 'sat', t: at, v: at >= START + 6 * HOUR && at < START + 9 * HOUR ? 27 : 13 },
    { id: 'fan', t: at, v: 1 },
  ])
  await site.central.historian.append('b1', samples)
  const rules = [{ filename: 'warm.yaml', yaml: warmRule() }]
  await site.call('operator', 'POST', '/api/rules/batch', { confirm: true, rules })
  return site
}

const start = (site: TestCentral, building_id = 'b1') =>
  site.call('operator', 'POST', '/api/fdd/run?async=true', { building_id, rule_ids: ['TEST-WARM'], ...SPAN })
const runOf = async (site: TestCentral, run_id: string) => (await site.call('viewer', 'GET', `/api/fdd/runs/${run_id}`)).body.run
const cancel = (site: TestCentral, run_id: string) => site.call('operator', 'POST', `/api/fdd/runs/${run_id}/cancel`)
/** Waits for the run's end by its events. */
const events = (site: TestCentral, run_id: string, headers = {}) =>
  site.call('viewer', 'GET', `/api/fdd/runs/${run_id}/events`, undefined, headers)

/** A first run starts the process of the rules, which is halted then, so that the next run does not come to its end. */
async function haltAfterRun(site: TestCentral): Promise<number> {
  const others = childrenWith('fdd/worker.ts') // such as the one that checked the rule
  await events(site, (await start(site)).body.run_id)
  const [pid] = childrenWith('fdd/worker.ts').filter(one => !others.includes(one))
  process.kill(pid!, 'SIGSTOP')
  return pid!
}

type Event = { event: string; id: string; data: Record<string, unknown> }
const parse = (text: string): Event[] =>
  text
    .split('\n\n')
    .filter(block => block.startsWith('event: '))
    .map(block => {
      const fields = Object.fromEntries(block.split('\n').map(line => line.split(/: (.*)/s).slice(0, 2)))
      return { event: fields['event'], id: fields['id'], data: JSON.parse(fields['data']) }
    })

test.serial('a run that is not waited for is answered at once, is watched to its end, and is listed', async t => {
  const site = await openSite(t)
  const answer = await start(site)
  t.is(answer.status, 202, answer.text)
  const { run_id, run } = answer.body
  t.is(answer.headers.get('location'), `/api/fdd/runs/${run_id}`)
  t.like(run, { run_id, building_id: 'b1', trigger: 'request', state: 'queued', started_at: null, finished_at: null })

  const heard = await events(site, run_id)
  t.is(heard.status, 200)
  t.is(heard.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  t.is(heard.headers.get('cache-control'), 'no-store')
  t.regex(heard.text, /^retry: 2000\n\n/)
  const told = parse(heard.text)
  t.like(told.at(-1), {
    event: 'end',
    id: 'end',
    data: { run_id, state: 'done', counts: { fault: 1, pass: 0, gated: 0, no_data: 0 } },
  })
  for (const { event, data } of told.slice(0, -1)) {
    t.is(event, 'progress')
    t.true(data['state'] === 'queued' || data['state'] === 'running')
  }
  const ids = told.slice(0, -1).map(({ id }) => Number(id))
  t.deepEqual(
    ids,
    [...new Set(ids)].toSorted((a, b) => a - b),
    'ids rise',
  )

  const done = await runOf(site, run_id)
  t.like(done, { run_id, state: 'done', asked_at: run.asked_at, failed: [], rule_ids: ['TEST-WARM'] })
  t.is((await site.call('viewer', 'GET', '/api/fdd/findings?building_id=b1')).body.findings.length, 1)
  const { runs } = (await site.call('viewer', 'GET', '/api/fdd/runs?building_id=b1')).body
  t.deepEqual(runs, [done])
  const rows = (await site.call('admin', 'GET', '/api/audit')).body.rows
  const row = rows.find(({ action }: { action: string }) => action === 'run_fdd')
  t.like(row, { actor: 'agent', subject: 'b1', after: { run_id } })
})

test.serial('whoever comes back hears only what is new, and nothing after the end', async t => {
  const site = await openSite(t)
  const { run_id } = (await start(site)).body
  const first = parse((await events(site, run_id)).text)
  const again = parse((await events(site, run_id, { 'last-event-id': first[0]!.id })).text)
  t.deepEqual(again, [first.at(-1)])
  const after = await events(site, run_id, { 'last-event-id': 'end' })
  t.deepEqual([after.status, after.text], [204, ''])
})

test.serial('a cancelled run ends at once for who asked, who watches and who waits, and stores nothing', async t => {
  const site = await openSite(t)
  const pid = await haltAfterRun(site)
  const before = (await site.call('viewer', 'GET', '/api/fdd/findings')).text
  const waiting = site.call('operator', 'POST', '/api/fdd/run', { building_id: 'b1', rule_ids: ['TEST-WARM'], ...SPAN })
  const { promise: begun, resolve } = Promise.withResolvers<string>()
  const look = setInterval(() => {
    const [live] = site.central.context.runs.live()
    if (live?.run.state === 'running') resolve(live.run.run_id)
  }, 10)
  const run_id = await begun
  clearInterval(look)
  const queued = (await start(site, 'b2')).body.run_id
  const heard = events(site, run_id)

  const answer = await cancel(site, run_id)
  t.is(answer.status, 200, answer.text)
  t.like(answer.body.run, { run_id, state: 'cancelled', reason: 'cancelled by agent' })
  t.deepEqual([(await waiting).status, (await waiting).body.code], [409, 'run_cancelled'])
  t.like(parse((await heard).text).at(-1), { event: 'end', data: { state: 'cancelled', reason: 'cancelled by agent' } })
  t.is((await cancel(site, run_id)).body.code, 'conflict')
  t.like(parse((await events(site, queued)).text).at(-1), { data: { state: 'done' } }, 'the next one has a process of its own')
  t.false(childrenWith('fdd/worker.ts').includes(pid))
  t.is((await site.call('viewer', 'GET', '/api/fdd/findings')).text, before)
  const states = (await site.call('viewer', 'GET', '/api/fdd/runs')).body.runs.map((run: { state: string }) => run.state)
  t.deepEqual(states.toSorted(), ['cancelled', 'done', 'done'])
  const rows = (await site.call('admin', 'GET', '/api/audit')).body.rows
  t.like(
    rows.find(({ action }: { action: string }) => action === 'cancel_run'),
    { actor: 'agent', subject: 'b1', before: { run_id, state: 'running' }, after: { run_id, state: 'cancelled' } },
  )
})

test.serial('when the process of a run is killed, its run fails alone and the history stays', async t => {
  const site = await openSite(t)
  const pid = await haltAfterRun(site)
  const before = (await site.call('viewer', 'GET', '/api/fdd/findings')).text
  const { run_id } = (await start(site)).body
  const heard = events(site, run_id)
  process.kill(pid, 'SIGKILL')
  t.like(parse((await heard).text).at(-1), { data: { state: 'failed', reason: 'the FDD process was ended by SIGKILL' } })
  t.is((await site.call('viewer', 'GET', '/api/fdd/findings')).text, before)
  const next = (await start(site)).body.run_id
  t.like(parse((await events(site, next)).text).at(-1), { data: { state: 'done' } })
})

test.serial('a run that the last process left says so after a restart', async t => {
  const workspace = mkdtempSync(join(tmpdir(), 'plenum-runs-'))
  t.teardown(() => rmSync(workspace, { recursive: true, force: true }))
  const first = await startCentral({ workspace })
  const left = { run_id: 'left', building_id: 'b1', trigger: 'schedule', state: 'running' } as const
  const at = { asked_at: START, started_at: START, finished_at: null }
  first.central.db
    .prepare('INSERT INTO runs (run_id, building_id, started_at, body, state, asked_at) VALUES (?, ?, ?, ?, ?, ?)')
    .run('left', 'b1', START, JSON.stringify({ ...left, ...at }), 'running', START)
  await first.close()
  const site = await openSite(t, { workspace })
  t.like(await runOf(site, 'left'), { state: 'failed', reason: 'interrupted: the process ended while it ran' })
})

test.serial('each run leaves a file that says what it found, also one that was stored before a crash and has none', async t => {
  const workspace = mkdtempSync(join(tmpdir(), 'plenum-runs-'))
  t.teardown(() => rmSync(workspace, { recursive: true, force: true }))
  const resultsDir = join(workspace, 'results')
  const folder = join(resultsDir, 'building_id=b1')
  const site = await openSite(t, { workspace, resultsDir })
  const { run_id } = (await start(site)).body
  await events(site, run_id)
  const [name] = readdirSync(folder)
  const text = readFileSync(join(folder, name!), 'utf8')
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))
  t.deepEqual(
    lines.map(({ type }) => type),
    ['run', 'result', 'finding'],
  )
  t.like(lines[0], { run_id, building_id: 'b1', counts: { fault: 1, pass: 0, gated: 0, no_data: 0 } })
  t.like(lines[1], { rule_id: 'TEST-WARM', status: 'fault', fault_secs: 3 * 3600 })
  t.like(lines[2], { rule_id: 'TEST-WARM', from: '2026-03-01T06:00:00Z', to: '2026-03-01T09:00:00Z' })
  t.is((await site.call('viewer', 'GET', '/api/health')).body.checks.result_files.status, 'ok')

  rmSync(join(folder, name!))
  for (const service of site.central.schedule) await service.start()
  t.is(readFileSync(join(folder, name!), 'utf8'), text)

  rmSync(folder, { recursive: true })
  writeFileSync(folder, 'a file where the folder was')
  await events(site, (await start(site)).body.run_id)
  t.like(await runOf(site, run_id), { state: 'done' })
  const health = (await site.call('viewer', 'GET', '/api/health')).body.checks.result_files
  t.is(health.status, 'warn')
})

test.serial('what a run was asked that does not exist stands with it as the reason', async t => {
  const site = await openSite(t)
  const { status, body } = await site.call('operator', 'POST', '/api/fdd/run?async=true', { building_id: 'b1', rule_ids: ['NO'] })
  t.is(status, 202)
  t.like(parse((await events(site, body.run_id)).text).at(-1), { data: { state: 'failed', reason: 'There is no rule NO' } })
  const refused = await site.call('operator', 'POST', '/api/fdd/run?async=true', { building_id: 'nowhere' })
  t.deepEqual([refused.status, refused.body.code], [404, 'unknown_building'])
})

test.serial(
  'runs are watched with a header or a cookie, never with a token in the address, and cancelled by operators',
  async t => {
    const site = await openSite(t)
    const { run_id } = (await start(site)).body
    const path = `/api/fdd/runs/${run_id}`
    for (const [who, method, url, status, code] of [
      ['nobody', 'GET', path, 401, 'unauthenticated'],
      ['nobody', 'GET', `${path}/events`, 401, 'unauthenticated'],
      ['nobody', 'GET', `${path}/events?token=x`, 401, 'unauthenticated'],
      ['viewer', 'GET', `${path}/events?token=x`, 400, 'bad_request'],
      ['viewer', 'POST', `${path}/cancel`, 403, 'forbidden'],
      ['viewer', 'POST', '/api/fdd/run?async=true', 403, 'forbidden'],
      ['viewer', 'GET', '/api/fdd/runs/nothing', 404, 'unknown_run'],
      ['viewer', 'GET', '/api/fdd/runs/nothing/events', 404, 'unknown_run'],
      ['operator', 'POST', '/api/fdd/runs/nothing/cancel', 404, 'unknown_run'],
    ] as const) {
      const answer = await site.call(who, method, url)
      t.deepEqual([answer.status, answer.body.code], [status, code], `${who} ${method} ${url}`)
    }
    const { token } = (
      await site.call('nobody', 'POST', '/api/auth/login', { username: 'viewer', password: 'viewer-password-1' })
    ).body
    t.is((await site.call('nobody', 'GET', `${path}/events`, undefined, { cookie: `plenum_session=${token}` })).status, 200)
  },
)

test.serial('a stream with nothing to say says so, and one whose reader is gone stops watching', async t => {
  let watchers = 0
  const { promise: alone, resolve: left } = Promise.withResolvers<void>()
  const waiting = { asked_at: START, started_at: null, finished_at: null, trigger: 'request', state: 'queued' } as const
  const live = { run: { run_id: 'r', building_id: 'b', ...waiting }, version: 4 }
  const runs = {
    get: () => live,
    watch: () => {
      watchers++
      return () => {
        watchers--
        left()
      }
    },
  }
  const stream = runEvents(runs, 'r', '4', 5)!
  const texts: string[] = []
  for await (const text of stream) {
    texts.push(String(text))
    if (texts.length === 3) break
  }
  t.deepEqual(texts, ['retry: 2000\n\n', ': no news\n\n', ': no news\n\n'])
  await alone
  t.is(watchers, 0)
})

test.serial('a list of runs goes on only where there are more than were asked for', async t => {
  const site = await openSite(t)
  for (let i = 0; i < 3; i++) await events(site, (await start(site)).body.run_id)
  const list = async (query: string) => (await site.call('viewer', 'GET', `/api/fdd/runs?building_id=b1&${query}`)).body
  t.like(await list('limit=3'), { next_cursor: undefined })
  const first = await list('limit=2')
  const rest = await list(`limit=2&cursor=${first.next_cursor}`)
  t.deepEqual([first.runs.length, rest.runs.length, rest.next_cursor], [2, 1, undefined])
  t.is(new Set([...first.runs, ...rest.runs].map(({ run_id }) => run_id)).size, 3)
  t.is((await list('')).runs.length, 3)
})

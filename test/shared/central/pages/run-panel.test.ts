/** The runs as people see them on the page of faults, and the buttons that start and end one. */
import anyTest, { type TestFn } from 'ava'
import { isOver, type RunState } from '#shared/core/runs/run-state.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import { type RunPanel, runPanel } from '#shared/central/ui/run-panel.ts'
import { childrenWith } from '../../../support/children.ts'
import { BUILDING, NOW } from '../../../support/page-fixture.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../support/sites/page-site.ts'

const test = anyTest as TestFn<{ box: TestSite; hub: TestSite }>
test.before(async t => {
  t.context = { box: await openSite({ product: 'appliance' }), hub: await openSite({ product: 'hub' }) }
})
test.after.always(async t => {
  await t.context.box.close()
  await t.context.hub.close()
})

const run = (more: Partial<RunState>): RunState => {
  const times = { asked_at: NOW - MINUTE, started_at: NOW - 30 * SECOND, finished_at: null }
  return { run_id: 'r1', building_id: 'b', trigger: 'request', state: 'running', ...times, ...more }
}
const PANEL: RunPanel = {
  live: [],
  newest: null,
  building_id: undefined,
  runsHere: true,
  nameOf: () => 'Riverside',
  here: { now: NOW, timezone: 'America/Chicago' },
  user: { name: 'agent', role: 'operator', mayOperate: true },
  csrf: 'token',
}
const words = (text: string) => text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
const at = { step: 'evaluation', equipment_done: 12, equipment_total: 50, rules: 36 } as const

for (const [what, panel, said, buttons] of [
  ['nothing has run', {}, 'Looking for faults Run now', ['Run now']],
  [
    'no rules run here',
    { runsHere: false },
    'Looking for faults Its own box looks for faults and sends them; no rules run here.',
    [],
  ],
  [
    'a run waits',
    { live: [{ run: run({ state: 'queued', started_at: null }) }] },
    'Riverside : waits for its turn since 14:01 , 1 min ago Cancel',
    ['Cancel'],
  ],
  ['a run has begun', { live: [{ run: run({}) }] }, 'Riverside : runs since 14:01 , 30 s ago Cancel', ['Cancel']],
  [
    'a run is in the middle',
    { live: [{ run: run({}), progress: at }] },
    'runs since 14:01 , 30 s ago: looking at equipment, 12 of 50 done with 36 rules',
    ['Cancel'],
  ],
  [
    'a run has failed',
    { newest: run({ state: 'failed', finished_at: NOW - MINUTE, reason: 'the FDD process was ended by SIGKILL' }) },
    'The newest run failed 14:01 , 1 min ago: the FDD process was ended by SIGKILL Run now',
    ['Run now'],
  ],
  [
    'a run was cancelled',
    { newest: run({ state: 'cancelled', finished_at: NOW - MINUTE, reason: 'cancelled by kim' }) },
    'The newest run was cancelled by kim 14:01 , 1 min ago; it stored nothing. Run now',
    ['Run now'],
  ],
  [
    'a run is done',
    { newest: run({ state: 'done', finished_at: NOW }) },
    'The newest run finished 14:02 . Show what it found',
    ['Run now'],
  ],
] as const) {
  test(`when ${what}, the page says so and offers ${buttons.join() || 'nothing'}`, t => {
    const { text } = runPanel({ ...PANEL, ...(panel as Partial<RunPanel>) })
    t.true(words(text).includes(said), words(text))
    t.deepEqual(
      [...text.matchAll(/<button[^>]*>([^<]+)</g)].map(([, name]) => name),
      [...buttons],
    )
  })
}

test('a viewer sees the button, cannot press it, and reads why', t => {
  const { text } = runPanel({ ...PANEL, user: { name: 'v', role: 'viewer', mayOperate: false } })
  t.regex(text, /<button class="" disabled aria-describedby="runs-why">Run now</)
})

/** Resolves when no run is left. */
async function untilQuiet({ context: { runs } }: TestSite): Promise<void> {
  for (const { run: one } of runs.live()) {
    await new Promise<void>(resolve => {
      if (!runs.watch(one.run_id, ({ run: now }) => isOver(now) && resolve())) resolve()
    })
  }
}

test.serial('an operator starts a run and ends it, without script', async t => {
  const { box } = t.context
  const { runs } = box.context
  const { get, post } = await signedIn(box.url, 'agent', PASSWORDS.agent)
  const building = BUILDING.building_id
  const answer = await post('/runs', '/faults')
  t.deepEqual([answer.status, answer.headers.get('location')], [303, '/faults'])
  await untilQuiet(box)
  const [first] = runs.list({ limit: 1 })
  t.like(first, { run: { state: 'done', building_id: building, trigger: 'request' } })
  t.regex(words(await (await get('/faults/runs')).text()), /The newest run finished .* Run now/)

  // The process is halted, so that the next run does not come to its end.
  for (const pid of childrenWith('fdd/worker.ts')) process.kill(pid, 'SIGSTOP')
  const again = await post('/runs', '/faults', { building })
  t.is(again.headers.get('location'), `/faults?building=${building}`)
  await post('/runs', '/', { building })
  const [live, ...more] = runs.live()
  t.deepEqual(more, [], 'one that is under way serves as well')
  const { run_id } = live!.run
  for (const path of ['/faults', '/faults/runs', '/', '/home/tiles']) {
    t.true((await (await get(path)).text()).includes(`action="/runs/${run_id}/cancel"`), path)
  }
  const ended = await post(`/runs/${run_id}/cancel`, '/faults', { back: '/faults' })
  t.deepEqual([ended.status, ended.headers.get('location')], [303, '/faults'])
  t.like(runs.get(run_id)?.run, { state: 'cancelled', reason: 'cancelled by agent' })
  const rows = box.context.audit.list({ limit: 20 }).map(({ action, subject }) => `${action} ${subject}`)
  t.deepEqual(
    rows.filter(row => row.includes('run')),
    [`cancel_run ${building}`, `run_fdd ${building}`, `run_fdd ${building}`],
  )

  const over = await post(`/runs/${run_id}/cancel`, '/faults', { back: '/' })
  t.deepEqual([over.status, over.headers.get('location')], [303, '/'], 'a run that has ended meanwhile is no error')
  t.is((await post('/runs/nothing/cancel', '/faults', { back: '/' })).status, 404)
  t.is((await post(`/runs/${run_id}/cancel`, '/faults', { back: 'https://elsewhere' })).status, 400)
})

test.serial('a viewer and a form from elsewhere start nothing', async t => {
  const { box } = t.context
  const viewer = await signedIn(box.url, 'viewer', PASSWORDS.viewer)
  const before = box.context.runs.list({ limit: 100 }).length
  t.is((await viewer.post('/runs', '/faults')).status, 403)
  t.is((await viewer.post('/runs/x/cancel', '/faults', { back: '/' })).status, 403)
  const operator = await signedIn(box.url, 'agent', PASSWORDS.agent)
  t.is((await operator.post('/runs', '/login')).status, 403, 'a form without its token')
  t.is(box.context.runs.list({ limit: 100 }).length, before)
})

test.serial('a hub offers no run over a building whose own appliance looks for its faults', async t => {
  const { hub } = t.context
  const { get, post } = await signedIn(hub.url, 'agent', PASSWORDS.agent)
  const elsewhere = hub.context.edges.list().filter(({ status_body }) => status_body['runs_rules'] === true)
  t.true(elsewhere.some(({ building_id }) => building_id === BUILDING.building_id))
  const text = await (await get(`/faults?building=${BUILDING.building_id}`)).text()
  t.false(text.includes('Run now'))
  await post('/runs', '/faults')
  t.false(hub.context.runs.live().some(({ run: one }) => one.building_id === BUILDING.building_id))
  const stale = await post('/runs', '/faults', { building: BUILDING.building_id })
  t.is(stale.status, 409, 'the button of a page from before')
  t.regex(words(await stale.text()), /run on the appliance .* run them there/)
  await untilQuiet(hub)
})

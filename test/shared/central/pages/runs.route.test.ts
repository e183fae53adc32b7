/** The page of runs: the newest of them and the older ones, failures with their reasons, by role. */
import anyTest, { type TestFn } from 'ava'
import { MINUTE } from '#shared/core/time.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { runStore } from '#shared/node/store/runs.ts'
import { join } from 'node:path'
import { BUILDING, NOW, RUN } from '../../../support/page-fixture.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../support/sites/page-site.ts'

const test = anyTest as TestFn<{ box: TestSite }>
test.before(async t => {
  t.context = { box: await openSite({ product: 'appliance' }) }
})
test.after.always(t => t.context.box.close())

const { building_id } = BUILDING
const words = (text: string) => text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

test.serial('a viewer reads when rules ran over what, what that came to, and why some of it came to nothing', async t => {
  const { context, stores } = t.context.box
  const { workspace } = context
  const { runRecorder } = stores
  const failed = [
    { rule_id: '/rules/vav/broken.yaml', error: 'line 3: when is missing' },
    { rule_id: 'CHW-LOW-DT', error: 'chiller: took longer than 30 s' },
  ]
  runRecorder.replace({ ...RUN, run_id: 'crooked', started_at: NOW - 3 * MINUTE, finished_at: NOW - 2 * MINUTE, failed }, [])
  const db = openDatabase(join(workspace, 'plenum.db'))
  const book = runStore(db)
  const asked = { building_id, trigger: 'request', asked_at: NOW, started_at: NOW, finished_at: NOW } as const
  book.put({ ...asked, run_id: 'large', state: 'failed', reason: 'the FDD process needed 710 MB where 704 MB are allowed' })
  book.put({ ...asked, run_id: 'ended', state: 'cancelled', reason: 'cancelled by kim' })
  db.close()
  const { get } = await signedIn(t.context.box.url, 'viewer', PASSWORDS.viewer)
  const html = await (await get('/runs')).text()
  const text = words(html)
  t.regex(text, /asked for, took 0 s nothing failed : the FDD process needed 710 MB where 704 MB are allowed/)
  t.regex(text, /nothing cancelled by kim/)
  t.regex(text, /asked for.*asked for.*on schedule, took 1 min 4 rules/)
  t.regex(
    text,
    /2 in fault, \d+ passed, 0 not applicable, \d+ without data Why checks came to nothing without data: \d+ required point not mapped 2 failures broken\.yaml line 3: when is missing CHW-LOW-DT chiller: took longer than 30 s/,
  )
  t.regex(html, /<button class="" disabled aria-describedby="runs-why">Run now</)
  t.regex(await (await get('/faults')).text(), /<a href="\/runs\?building=school">All runs<\/a>/)
})

test.serial('a run tells its failures from the first on, and of many the first fifty and how many more there are', async t => {
  const { runRecorder } = t.context.box.stores
  const { get } = await signedIn(t.context.box.url, 'viewer', PASSWORDS.viewer)
  for (const [count, listed, rest] of [
    [1, 1, undefined],
    [50, 50, undefined],
    [51, 50, 1],
    [120, 50, 70],
  ] as const) {
    const failed = Array.from({ length: count }, (_, i) => ({ rule_id: `R-${i}`, error: 'took too long' }))
    runRecorder.replace({ ...RUN, run_id: 'failing', failed }, [])
    const details = /<details class="figures"><summary>[^]*?<\/details>/g
    const html = await (await get('/runs')).text()
    const [own] = [...html.matchAll(details)].map(([text]) => text).filter(text => text.includes(`>${count} failure`))
    t.is([...(own ?? '').matchAll(/<code>R-/g)].length, listed, `${count}`)
    t.is(/and (\d+) more/.exec(own ?? '')?.[1], rest === undefined ? undefined : String(rest), `${count}`)
  }
})

test.serial('five hundred runs come fifty at a time, each once, the newest first', async t => {
  const { runRecorder } = t.context.box.stores
  for (let i = 0; i < 130; i++) {
    runRecorder.replace(
      { ...RUN, run_id: `more-${i}`, started_at: NOW - (300 - i) * MINUTE, finished_at: NOW - (300 - i) * MINUTE },
      [],
    )
  }
  const all = t.context.box.context.runs.list({ building_id, limit: 1000 }).length
  const { get } = await signedIn(t.context.box.url, 'viewer', PASSWORDS.viewer)
  const pages: number[] = []
  const ended: string[] = []
  for (let path: string | undefined = '/runs'; path !== undefined; ) {
    const html: string = await (await get(path)).text()
    const rows = [...html.matchAll(/<td data-label="Ended"><div><time datetime="([^"]+)"/g)].map(([, at]) => at!)
    pages.push(rows.length)
    ended.push(...rows)
    path = /<a href="(\/runs\?[^"]+)">Older runs</.exec(html)?.[1]?.replaceAll('&amp;', '&')
  }
  t.deepEqual(pages, [50, 50, all - 100])
  t.deepEqual(ended, ended.toSorted().toReversed())
  t.is((await get('/runs?after=nothing')).status, 400)
  t.is((await get('/runs?building=nowhere')).status, 404)
})

test.serial('a page that holds the last run names no older ones, and one run more begins the next page', async t => {
  const { runRecorder } = t.context.box.stores
  const other = 'fifty'
  t.context.box.context.model.put({ building: { ...BUILDING, building_id: other, name: 'Fifty runs' } })
  const { get } = await signedIn(t.context.box.url, 'viewer', PASSWORDS.viewer)
  const run = (i: number) => ({
    ...RUN,
    building_id: other,
    run_id: `one-of-${i}`,
    started_at: NOW - i * MINUTE,
    finished_at: NOW,
  })
  for (let i = 0; i < 50; i++) runRecorder.replace(run(i), [])
  const listed = async () => {
    const html = await (await get(`/runs?building=${other}`)).text()
    return [html.match(/<td data-label="Ended">/g)?.length, /Older runs</.test(html)]
  }
  t.deepEqual(await listed(), [50, false])
  runRecorder.replace(run(50), [])
  t.deepEqual(await listed(), [50, true])
})

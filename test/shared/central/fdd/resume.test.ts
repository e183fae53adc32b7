import test, { type ExecutionContext } from 'ava'
import { levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { leapOf } from '#shared/core/model/role-leap.ts'
import { WINDOW_MAX_MS } from '#shared/core/rules/language/functions.ts'
import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'
import { DAY, HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import { nextDay } from '#shared/core/time-zone.ts'
import { evaluateRules, type Evaluation } from '#shared/flow/fdd/evaluate-rules.ts'
import { runFdd, type RunPorts, type RunReport, type RunRequest } from '#shared/flow/fdd/run-fdd.ts'
import { openEngineStates, openSampleLogs } from '#shared/node/rules/engine-states.ts'
import { openHistoryChanges } from '#shared/node/historian/changes.ts'
import { openHistoryReader } from '#shared/node/historian/reader.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { baselineStore } from '#shared/node/store/baselines.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { noteStore } from '#shared/node/store/notes.ts'
import { paramSettingStore } from '#shared/node/store/param-settings.ts'
import { resultStores } from '#shared/node/store/results.ts'
import { ruleStateStore } from '#shared/node/store/rule-states.ts'
import { SITE_START, TIMEZONE } from '#scripts/simulator/building/building.ts'
import { SCRIPT } from '#scripts/simulator/building/faults.ts'
import { sampleSite } from '#scripts/simulator/building/frames.ts'
import { OVERRIDES } from '#scripts/simulator/building/overrides.ts'
import { MEMORY_MB, temporaryHistorian } from '../../../support/sites/workspace.ts'

const LOOKBACK = 3 * DAY
const SPACING = 5 * MINUTE
const END = SITE_START + 5 * DAY
const BUILDING: Building = { building_id: 'b', name: 'B', site_id: 's', timezone: TIMEZONE, unit_system: 'si' }
const rules = loadRules([new URL('../../../../rules', import.meta.url).pathname])

type Sample = { id: string; t: number; v: number }

const CHOSEN = ['AHU-1', 'VAV-101', 'VAV-102']
/** Five days of a part of the simulated site, every five minutes, with what hourly visits see of the priority arrays. */
const SITE = sampleSite(SCRIPT, SITE_START, END, OVERRIDES).filter(({ equipment_id }) => CHOSEN.includes(equipment_id))
const pointId = (equipment_id: string, role: string) => `${equipment_id}.${role}`
/** A lost link is read as zero for an hour and a half around a midnight of the building, and single values are wrong. */
const MIDNIGHT = nextDay(SITE_START + 2 * DAY, TIMEZONE)
const asRead = (value: number, t: number): number => {
  if (t >= MIDNIGHT - 40 * MINUTE && t < MIDNIGHT + 50 * MINUTE) return 0
  return (t / SPACING) % 271 === 0 ? 0 : value
}
const SAMPLES: Sample[] = SITE.flatMap(({ equipment_id, roles }) =>
  Object.entries(roles).flatMap(([role, { ts, values }]) =>
    [...ts].flatMap((t, i) =>
      t % SPACING === 0 ? [{ id: pointId(equipment_id, role), t, v: leapOf(role) ? asRead(values[i]!, t) : values[i]! }] : [],
    ),
  ),
)
const VISITS: Record<string, ArraySnapshot[]> = Object.fromEntries(
  SITE.flatMap(({ equipment_id, visits = {} }) =>
    Object.entries(visits).map(([role, seen]) => [pointId(equipment_id, role), seen]),
  ),
)

function modelOf(site: EquipmentData[]): { building: Building; equipment: Equipment[]; points: Point[] } {
  const { building_id } = BUILDING
  const points = site.flatMap(({ equipment_id, roles }) =>
    Object.keys(roles).map((role): Point => {
      const unit = ROLES[role]!.unit
      const common = { building_id, equipment_id, name: role, kind: 'number', source: { protocol: 'csv', address: '' } } as const
      return { ...common, point_id: pointId(equipment_id, role), role, unit, poll_secs: SPACING / SECOND }
    }),
  )
  const equipment = site.map(({ equipment_id, equipment_type, feeds, parent_id }) => {
    return { building_id, equipment_id, name: equipment_id, equipment_type, feeds, ...(parent_id !== undefined && { parent_id }) }
  })
  return { building: BUILDING, equipment, points }
}

type Box = Awaited<ReturnType<typeof openBox>>

/** A box whose clock is told, with its rules, stores, history and what the engine remembers. */
async function openBox(t: ExecutionContext) {
  const place = await temporaryHistorian(t)
  const { db, dbPath, root, historian } = place
  const folder = join(root, '..', 'states')
  const model = modelStore(db)
  model.put(modelOf(SITE))
  const results = resultStores(db)
  const evaluations: Evaluation[] = []
  let now = SITE_START
  let runs = 0
  const evaluate: RunPorts['evaluate'] = async job => {
    const reader = await openHistoryReader({ dbPath, root, memoryMb: MEMORY_MB })
    try {
      const saved = { states: openEngineStates(folder, '1'), sampleLogs: openSampleLogs(folder) }
      const ports = { historian: reader, loadRules: () => rules, saved, elapsed: () => performance.now() }
      const evaluation = await evaluateRules(structuredClone(job), ports)
      evaluations.push(evaluation)
      return evaluation
    } finally {
      reader.close()
    }
  }
  const ports: Omit<RunPorts, 'run_id'> = {
    model,
    ...results,
    ruleStates: ruleStateStore(db),
    paramSettings: paramSettingStore(db),
    baselines: baselineStore(db),
    historian,
    changes: openHistoryChanges(db),
    priority: {
      levels: levelMeanings,
      snapshots: async (_building_id, { from, to }) =>
        Object.fromEntries(Object.entries(VISITS).map(([id, seen]) => [id, seen.filter(({ t }) => t >= from && t < to)])),
    },
    clock: { now: () => now, sleep: () => Promise.reject(new Error('nobody sleeps here')) },
    evaluate,
    onFindings: () => undefined,
    elapsed: () => performance.now(),
  }
  return {
    ...place,
    folder,
    ...results,
    notes: noteStore(db),
    /** What the newest run made of its work. */
    last: () => evaluations.at(-1)!,
    async run(at: number, more: Partial<RunRequest> = {}, others: Partial<RunPorts> = {}): Promise<RunReport> {
      now = at
      return runFdd({ building_id: 'b', ...more }, 'schedule', LOOKBACK, { ...ports, run_id: `run ${runs++}`, ...others })
    },
  }
}

const told = ({ findings }: Box): Finding[] =>
  findings.list({ building_id: 'b', limit: 1e6 }).toSorted((a, b) => (a.finding_id < b.finding_id ? -1 : 1))
/**
 * Without what hangs on how the runs were cut: a longer span evaluates what a shorter one cannot, and only a run without a span
 * of its own says as which version a rule was evaluated.
 */
const said = ({ results }: Box) =>
  [...results.each('b')].map(({ evaluated_as: _version, evaluated_to, ...one }) => {
    const until = one.status === 'not_evaluated' || evaluated_to === undefined ? {} : { evaluated_to }
    return { ...one, ...until, run_id: '', finished_at: 0 }
  })

/** What a box says that learns everything at once and looks at it once, from the first run's span on. */
async function batchOf(
  t: ExecutionContext,
  from: number,
  to: number,
  lastFrom: number,
): Promise<{ findings: Finding[]; results: object[] }> {
  const box = await openBox(t)
  await box.historian.append(
    'b',
    SAMPLES.filter(({ t: at }) => at < to),
  )
  await box.run(to, { from, to })
  const findings = told(box)
  await box.run(to, { from: lastFrom, to })
  return { findings, results: said(box) }
}

const isWithin = ({ t }: Sample, from: number, to: number) => t >= from && t < to

test('any sequence of runs, with what came late, was corrected or was lost between them, leaves what one run over all leaves', async t => {
  const box = await openBox(t)
  const give = (samples: Sample[]) => box.historian.append('b', samples)
  const between = (from: number, to: number) => SAMPLES.filter(sample => isWithin(sample, from, to))
  const h = (hours: number) => SITE_START + hours * HOUR
  const files = () => readdirSync(box.folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.state'))
  const equipment = SITE.length

  await give(between(h(0), h(7)))
  const { from: first } = await box.run(h(7))
  t.deepEqual(box.last().resumed, [], 'the first run begins at the beginning')
  t.is(box.last().notes.length, 0)
  await give(between(h(7), h(15)).filter(({ id }) => !id.startsWith('VAV-102')))
  await box.run(h(15))
  t.is(box.last().resumed.length, equipment, 'the day that was over when the first run looked')

  // A box is late by half a day, and comes after the next midnight.
  await give(between(h(15), h(22)).filter(({ id }) => !id.startsWith('VAV-102')))
  await box.run(h(22))
  await give(between(h(7), h(22)).filter(({ id }) => id.startsWith('VAV-102')))
  await box.run(h(23))
  t.true(box.last().resumed.length > 0)

  // A sensor lies for a while, and is corrected a day later.
  const lying = (sample: Sample) =>
    sample.id === 'AHU-1.sa_t' && isWithin(sample, h(26), h(31)) ? { ...sample, v: sample.v + 12 } : sample
  await give(between(h(22), h(40)).map(lying))
  await box.run(h(40))
  const lies = told(box).length
  await give(between(h(40), h(50)))
  await box.run(h(50))
  await give(between(h(26), h(31)))
  await give(between(h(45), h(50))) // the same again
  await box.run(h(51))
  t.is(box.last().resumed.length, equipment)
  t.true(lies > 0)

  // A run that is ended before it could store, after its states were written; then one that stores.
  await give(between(h(50), h(66)))
  const ended = new AbortController()
  const dying: Partial<RunPorts> = {
    signal: ended.signal,
    clock: { now: () => (ended.abort(new Error('ended')), h(66)), sleep: async () => undefined },
  }
  await t.throwsAsync(box.run(h(66), {}, dying), { message: 'ended' })
  await box.run(h(67))

  // Runs that ask for something of their own leave no trace in what is remembered.
  const kept = files()
  await box.run(h(67), { params: { 'VAV-LOW-FLOW': {} } })
  await box.run(h(67), { equipment_ids: ['AHU-1'] })
  t.deepEqual(files(), kept)

  // A file is damaged, later all of them are gone.
  await give(between(h(66), h(80)))
  const [one = ''] = files()
  for (const name of files()) if (basename(name) === basename(one)) writeFileSync(join(box.folder, name), 'not a state')
  await box.run(h(80))
  t.is(box.last().resumed.length, equipment - 1)
  t.regex(
    box.last().notes.join(),
    /^1 of 3 equipment evaluated from history without a saved state; .* not a file of this kind or version$/,
  )
  rmSync(box.folder, { recursive: true })
  await give(between(h(80), h(95)))
  await box.run(h(95))
  t.deepEqual(box.last().resumed, [])
  t.deepEqual(box.last().notes, [])

  for (const hour of [100, 104, 119]) {
    await give(between(h(95), h(hour)))
    await box.run(h(hour))
    t.is(box.last().resumed.length, equipment, `${hour} h: ${box.last().notes.join()}`)
  }
  const { from: lastFrom } = await box.run(h(119))
  const batch = await batchOf(t, first, h(119), lastFrom)
  t.true(batch.findings.length > 8, `${batch.findings.length} findings`)
  t.deepEqual(told(box), batch.findings)
  t.deepEqual(said(box), batch.results)
  t.true(files().length <= 4 * equipment, `${files().length} files`)
})

test('a run does not resume from states of other overrides', async t => {
  const box = await openBox(t)
  const h = (hours: number) => SITE_START + hours * HOUR
  await box.historian.append(
    'b',
    SAMPLES.filter(({ t: at }) => at < h(30)),
  )
  await box.run(h(28))
  await box.run(h(29))
  t.not(box.last().resumed.length, 0)
  const priority = { levels: () => levelMeanings([{ level: 9, override: true }]), snapshots: async () => VISITS }
  await box.run(h(29.5), {}, { priority })
  t.deepEqual(box.last().resumed, [])
  await box.run(h(29.8), {}, { priority })
  t.not(box.last().resumed.length, 0)
})

test('a run asks for the visits of the longest window before its span, and a day more', async t => {
  const box = await openBox(t)
  const asked: number[] = []
  const priority = { levels: levelMeanings, snapshots: async (_: string, { from }: { from: number }) => (asked.push(from), {}) }
  const to = Date.UTC(2026, 2, 20)
  const { from } = await box.run(to, { from: to - DAY, to }, { priority })
  t.deepEqual(asked, [from - WINDOW_MAX_MS - DAY])
})

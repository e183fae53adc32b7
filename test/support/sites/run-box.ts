/** A box with a given clock: real stores, history, runs and engine; only the process around the engine is not there. */
import type { ExecutionContext } from 'ava'
import { join } from 'node:path'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { evaluateRules, type Evaluation } from '#shared/flow/fdd/evaluate-rules.ts'
import { runFdd, type RunPorts, type RunReport, type RunRequest } from '#shared/flow/fdd/run-fdd.ts'
import { openEngineStates, openSampleLogs } from '#shared/node/rules/engine-states.ts'
import { openHistoryChanges } from '#shared/node/historian/changes.ts'
import { openHistoryReader } from '#shared/node/historian/reader.ts'
import { baselineStore } from '#shared/node/store/baselines.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { paramSettingStore } from '#shared/node/store/param-settings.ts'
import { resultStores } from '#shared/node/store/results.ts'
import { ruleStateStore } from '#shared/node/store/rule-states.ts'
import { MEMORY_MB, type Place, temporaryHistorian } from './workspace.ts'

export const BUILDING: Building = { building_id: 'b', name: 'B', site_id: 's', timezone: 'UTC', unit_system: 'si' }

export const unit = (equipment_id: string, more: Partial<Equipment> = {}): Equipment => {
  return { building_id: 'b', equipment_id, name: equipment_id, equipment_type: 'ahu', ...more }
}

/** A point that is polled every five minutes; its id is `<equipment_id>.<role>`. */
export const point = (equipment_id: string, role: string, code: string, more: Partial<Point> = {}): Point => ({
  building_id: 'b',
  equipment_id,
  point_id: `${equipment_id}.${role}`,
  name: role,
  role,
  unit: code,
  kind: 'number',
  source: { protocol: 'csv', address: '' },
  poll_secs: 300,
  ...more,
})

export type Sample = { id: string; t: number; v: number }

/** Samples of `[from, to)`, `step` apart. */
export function samplesOf(id: string, [from, to]: [number, number], value: (t: number) => number, step = 5 * MINUTE): Sample[] {
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, i) => ({ id, t: from + i * step, v: value(from + i * step) }))
}

export type Site = { rules: Rule[]; equipment: Equipment[]; points: Point[]; building?: Building; lookbackMs?: number }
export type Box = ReturnType<typeof boxAt>

/** A box that is gone after the test. */
export const openBox = async (t: ExecutionContext, site: Site): Promise<Box> => boxAt(await temporaryHistorian(t), site)

export function boxAt(place: Place, { building = BUILDING, lookbackMs = 3 * DAY, ...site }: Site) {
  const { db, dbPath, root, historian } = place
  const folder = join(root, '..', 'states')
  const model = modelStore(db)
  model.put({ building, equipment: site.equipment, points: site.points })
  const stores = {
    model,
    ...resultStores(db),
    ruleStates: ruleStateStore(db),
    paramSettings: paramSettingStore(db),
    baselines: baselineStore(db),
    changes: openHistoryChanges(db),
  }
  const evaluations: Evaluation[] = []
  const hub = new Map<string, Finding>()
  let { rules } = site
  let now = 0
  let runs = 0
  const evaluate: RunPorts['evaluate'] = async job => {
    const reader = await openHistoryReader({ dbPath, root, memoryMb: MEMORY_MB })
    try {
      const saved = { states: openEngineStates(folder, '1'), sampleLogs: openSampleLogs(folder) }
      const loadRules = () => ({ rules, errors: [] })
      const evaluation = await evaluateRules(structuredClone(job), { historian: reader, loadRules, saved, elapsed: () => 0 })
      evaluations.push(evaluation)
      return evaluation
    } finally {
      reader.close()
    }
  }
  const ports: Omit<RunPorts, 'run_id'> = {
    ...stores,
    historian,
    clock: { now: () => now, sleep: () => Promise.reject(new Error('nobody sleeps here')) },
    evaluate,
    onFindings: (findings, withdrawn) => {
      for (const id of withdrawn) hub.delete(id)
      for (const finding of findings) hub.set(finding.finding_id, finding)
    },
    elapsed: () => 0,
  }
  const inOrder = (findings: Iterable<Finding>) => [...findings].toSorted((a, b) => (a.finding_id < b.finding_id ? -1 : 1))
  return {
    ...place,
    ...stores,
    ports,
    /** State of the engine. */
    folder,
    deploy: (next: Rule[]) => void (rules = next),
    give: (samples: Sample[]) => historian.append('b', samples),
    /** What the newest run made of its work. */
    last: () => evaluations.at(-1)!,
    told: () => inOrder(stores.findings.list({ building_id: 'b', limit: 1e6 })),
    /** Findings as a listener knows them. */
    heard: () => inOrder(hub.values()),
    async run(at: number, request: Partial<RunRequest> = {}, others: Partial<RunPorts> = {}): Promise<RunReport> {
      now = at
      return runFdd({ building_id: 'b', ...request }, 'schedule', lookbackMs, { ...ports, run_id: `run ${runs++}`, ...others })
    },
  }
}

/** A box in a folder: real history and real stores, and runs of the rules over them in this process. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { TemplateCache } from '#shared/core/rules/compile/compile-equipment.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import { DAY, MINUTE, SECOND } from '#shared/core/time.ts'
import { type EvaluateJob, evaluateRules, type Evaluation } from '#shared/flow/fdd/evaluate-rules.ts'
import { runFdd, type RunPorts, type RunReport } from '#shared/flow/fdd/run-fdd.ts'
import { openEngineStates, openSampleLogs } from '#shared/node/rules/engine-states.ts'
import { openHistoryChanges } from '#shared/node/historian/changes.ts'
import { openHistorian } from '#shared/node/historian/historian.ts'
import { openHistoryReader } from '#shared/node/historian/reader.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { baselineStore } from '#shared/node/store/baselines.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { paramSettingStore } from '#shared/node/store/param-settings.ts'
import { resultStores } from '#shared/node/store/results.ts'
import { ruleStateStore } from '#shared/node/store/rule-states.ts'

export const MEMORY_MB = 256
const LOOKBACK = 3 * DAY
export const building_id = 'bench'
const BUILDING: Building = { building_id, name: 'Bench', site_id: 'bench', timezone: 'UTC', unit_system: 'si' }

export type Site = { equipment: Equipment[]; points: Point[] }

/** A point that is read once a minute, in its role's canonical unit. */
export function pointOf(equipment_id: string, role: string): Point {
  const source = { protocol: 'csv', address: '' } as const
  const common = { building_id, equipment_id, name: role, kind: 'number', source, poll_secs: MINUTE / SECOND } as const
  return { ...common, point_id: `${equipment_id}.${role}`, role, unit: ROLES[role]!.unit }
}

export const placesIn = (folder: string) => ({
  dbPath: join(folder, 'plenum.db'),
  root: join(folder, 'parquet'),
  states: join(folder, 'states'),
})

export async function openBox(folder: string, site: Site, rules: Rule[]) {
  const { dbPath, root, states } = placesIn(folder)
  const db = openDatabase(dbPath)
  const historian = await openHistorian({ db, root, memoryMb: MEMORY_MB, idleMs: SECOND })
  const model = modelStore(db)
  model.put({ building: BUILDING, ...site })
  const changes = openHistoryChanges(db)
  const results = resultStores(db)
  const templates = new TemplateCache()
  let now = 0
  const reader = await openHistoryReader({ dbPath, root, memoryMb: MEMORY_MB })
  const evaluate = (job: EvaluateJob): Promise<Evaluation> =>
    evaluateRules(job, {
      historian: reader,
      loadRules: () => ({ rules, errors: [] }),
      saved: { states: openEngineStates(states, 'bench'), sampleLogs: openSampleLogs(states) },
      templates,
      elapsed: () => performance.now(),
    })
  const ports: Omit<RunPorts, 'run_id'> = {
    model,
    ...results,
    ruleStates: ruleStateStore(db),
    paramSettings: paramSettingStore(db),
    baselines: baselineStore(db),
    historian,
    changes,
    clock: { now: () => now, sleep: () => Promise.reject(new Error('nobody sleeps here')) },
    evaluate,
    onFindings: () => undefined,
    elapsed: () => performance.now(),
  }
  return {
    historian,
    findings: results.findings,
    /** A run at an instant as the schedule asks for it: it resumes from the last one, if there was one. */
    async run(at: number): Promise<RunReport> {
      now = at
      return runFdd({ building_id }, 'schedule', LOOKBACK, { ...ports, run_id: `run at ${at}` })
    },
    /** A run over a span; with `remembered` the next scheduled one resumes from it. Nothing of it is stored. */
    async evaluate(span: { from: number; to: number }, remembered: boolean): Promise<Evaluation> {
      const asked = { rule_ids: undefined, inactive: [], equipment_ids: undefined, params: undefined }
      const job = { building: BUILDING, ...site, ...span, ...asked, settings: [], resets: [], carried: [] }
      changes.take(building_id)
      const evaluation = await evaluate({ ...job, ...(remembered && { remember: { changedFrom: undefined } }) })
      if (remembered) changes.settle(building_id, span.to)
      return evaluation
    },
    async close() {
      reader.close()
      await historian.stop()
      db.close()
    },
  }
}

/** Files below a folder, and their bytes. */
export function sizeOf(folder: string): { files: number; bytes: number } {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => statSync(join(folder, name)))
  const files = found.filter(stat => stat.isFile())
  return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) }
}

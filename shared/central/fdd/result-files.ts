import { errorText } from '#shared/core/error-text.ts'
import { type Finding, resultState } from '#shared/core/findings/finding.ts'
import type { FindingReader, ResultReader, RunRecord } from '#shared/core/ports.ts'
import { summaryOf } from '#shared/core/runs/run-summary.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import { openRunFiles } from '#shared/node/rules/run-files.ts'
import { findingFields, runView } from '#shared/central/api/record-views.ts'

/** Findings that one file holds. */
const FINDINGS_MAX = 10_000

export type ResultFiles = {
  /** Never rejects: the run is stored, and `fault` says what its file lacks. */
  keep(run_id: string): Promise<void>
  /** Writes the file of each building's newest run where a crash or a full disk has left none. */
  catchUp(): Promise<void>
  /** Why the newest file could not be written; undefined when it was. */
  fault(): string | undefined
}

type ResultFileStores = { model: ModelStore; findings: FindingReader; results: ResultReader }

/** The files of `SERVICE_RULE_RESULTS_DIR`: the run, its results, and the findings of its span as they were after it. */
export function openResultFiles(dir: string, { model, findings, results }: ResultFileStores): ResultFiles {
  const files = openRunFiles(dir)
  let fault: string | undefined
  const keep = async (run_id: string) => {
    const run = results.record(run_id)
    if (!run) return
    const { building_id, from, to } = run
    try {
      await files.keep(run, () => linesOf(run, findings.list({ building_id, from, to, limit: FINDINGS_MAX })))
      fault = undefined
    } catch (error) {
      fault = `SERVICE_RULE_RESULTS_DIR: the file of run ${run_id} cannot be written: ${errorText(error)}`
    }
  }
  return {
    keep,
    async catchUp() {
      for (const { building_id } of model.buildings()) {
        const [run] = results.runs({ building_id, limit: 1 })
        if (run) await keep(run.run_id)
      }
    },
    fault: () => fault,
  }
}

function* linesOf(run: RunRecord, findings: Finding[]): Generator<object> {
  yield { type: 'run', ...runView(summaryOf(run)) }
  for (const result of run.results) yield { type: 'result', ...result, state: resultState(result) }
  for (const finding of findings) yield { type: 'finding', ...findingFields(finding) }
}

/** An FDD worker whose runs do what their first rule's name says. */
import { setTimeout as wait } from 'node:timers/promises'
import type { FddHandlers } from '#shared/central/fdd/worker.ts'
import type { Evaluation } from '#shared/flow/fdd/evaluate-rules.ts'
import { serveWorker } from '#shared/node/worker/serve-worker.ts'

const MB = 1024 * 1024

serveWorker((): Pick<FddHandlers, 'evaluate'> => {
  const hoard: Buffer[] = []
  return {
    async evaluate({ job }, signal, tell) {
      const [what] = job.rule_ids ?? []
      const [equipment_total, rules] = [job.equipment.length, job.rule_ids?.length ?? 0]
      for (let done = 0; done <= equipment_total; done++) {
        tell({ step: 'evaluation', equipment_done: done, equipment_total, rules })
      }
      if (what === 'leave') process.exit(3)
      while (what === 'wait' && !signal.aborted) await wait(5)
      while (what === 'grow') {
        hoard.push(Buffer.alloc(8 * MB, 1))
        await wait(5)
      }
      if (what === 'hang') for (;;);
      if (what === 'throw') throw new Error('the engine is broken')
      const nothing = {
        findings: [],
        results: [],
        days: [],
        failed: [],
        problems: [],
        baselines: [],
        timings: [],
        resumed: [],
        notes: [],
      }
      return { ...nothing, rule_ids: job.rule_ids ?? [] } satisfies Evaluation
    },
  }
})

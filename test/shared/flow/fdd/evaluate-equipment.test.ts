import test from 'ava'
import type { RuleRun } from '#shared/core/rules/evaluate/run-rules.ts'
import { evaluateEquipment } from '#shared/flow/fdd/evaluate-equipment.ts'
import type { FrameReader } from '#shared/flow/fdd/frame-reader.ts'

/** Evaluates three pieces of equipment; the pause of that number ends the run. @returns the work that was done before it */
async function endedAt(pauses: number): Promise<{ ended: boolean; work: string[] }> {
  const work: string[] = []
  const run = {
    order: ['a', 'b', 'c'],
    needs: () => [],
    evaluate: (equipment_id: string) => {
      work.push(`evaluate ${equipment_id}`)
      return { states: [], outdated: undefined }
    },
  } as unknown as RuleRun
  const reader = {
    sizeOf: () => 3_000_000,
    read: async () => {
      work.push('read')
      return [{ frames: () => [] }]
    },
  } as unknown as FrameReader
  let left = pauses
  const ports = {
    pause: async () => {
      await new Promise(resolve => setImmediate(resolve))
      if (left-- === 0) throw new Error('ended')
    },
    begin: () => undefined,
    isUnsure: () => false,
  }
  try {
    await evaluateEquipment(run, reader, 0, undefined, ports)
    return { ended: false, work }
  } catch (error) {
    if ((error as Error).message !== 'ended') throw error
    return { ended: true, work }
  }
}

test('a run that is ended at a pause does none of the work behind it', async t => {
  const all = ['a', 'b', 'c'].flatMap(equipment_id => ['read', `evaluate ${equipment_id}`])
  for (const [n] of all.entries()) t.deepEqual(await endedAt(n), { ended: true, work: all.slice(0, n) })
  t.deepEqual(await endedAt(all.length), { ended: false, work: all })
})

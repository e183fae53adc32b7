import test from 'ava'
import type { RuleRun } from '#shared/core/rules/evaluate/run-rules.ts'
import { DOUBT_PAST_MS } from '#shared/core/series/doubtful.ts'
import { DAY } from '#shared/core/time.ts'
import { evaluateEquipment, type ResumeSource } from '#shared/flow/fdd/evaluate-equipment.ts'
import type { FrameReader, FrameRequest } from '#shared/flow/fdd/frame-reader.ts'

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

/** Evaluates equipment that resumes from a saved state, and has hardly any samples. */
async function resumed(order: string[]) {
  const asked: FrameRequest[] = []
  let [waiting, mostWaiting] = [0, 0]
  const evaluate = () => {
    waiting--
    return { states: [] }
  }
  const reader = {
    sizeOf: () => 1,
    read: async (requests: FrameRequest[]) => {
      asked.push(...requests)
      return requests.map(() => ({ frames: () => [], fresh: { from: 0, to: 0, series: new Map() }, logged: undefined }))
    },
  } as unknown as FrameReader
  const load = () => {
    mostWaiting = Math.max(mostWaiting, ++waiting)
    return { state: { at: 9 * DAY } }
  }
  const sampleLogs = { read: () => undefined, add: () => undefined }
  const source = {
    building_id: 'b',
    ends: [9 * DAY],
    changedFrom: 10 * DAY,
    states: { load },
    sampleLogs,
  } as unknown as ResumeSource
  const ports = { pause: async () => undefined, begin: () => undefined, isUnsure: () => false }
  const run = { order, needs: () => [], evaluate } as unknown as RuleRun
  const outcome = await evaluateEquipment(run, reader, 0, source, ports)
  return { ...outcome, asked, mostWaiting }
}

test('a run that resumes reads as far back as samples decide which of the later ones are believed', async t => {
  const { resumed: ids, asked } = await resumed(['a'])
  t.deepEqual([ids, asked.map(({ from }) => from)], [['a'], [9 * DAY - DOUBT_PAST_MS]])
})

test('the saved states of a large building are not in memory at once', async t => {
  const order = Array.from({ length: 100 }, (_, i) => `vav-${i}`)
  const { resumed: ids, mostWaiting } = await resumed(order)
  t.deepEqual(ids, order)
  t.true(mostWaiting <= 5, `${mostWaiting} states were loaded and not evaluated yet`)
})

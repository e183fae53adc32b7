/** A gate counts once it has been open for as long as the rule says. */
import test from 'ava'
import { Graph } from '#shared/core/rules/evaluate/graph.ts'
import { settledNode } from '#shared/core/rules/evaluate/stateful-nodes.ts'
import { MINUTE } from '#shared/core/time.ts'

const _ = Number.NaN
/** Instants in minutes, the gate at each, and from when it counts; rows between full minutes hold what was until something changes. */
const CASES: { title: string; at: number[]; gate: number[]; wanted: number[] }[] = [
  { title: 'it counts at the very instant', at: [0, 1, 2, 3, 4], gate: [0, 1, 1, 1, 1], wanted: [0, 0, 0, 1, 1] },
  { title: 'open from the start counts after the time', at: [0, 1, 2, 3], gate: [1, 1, 1, 1], wanted: [0, 0, 1, 1] },
  { title: 'a gate that shuts begins anew', at: [0, 1, 2, 3, 4, 5], gate: [1, 1, 1, 0, 1, 1], wanted: [0, 0, 1, 0, 0, 0] },
  { title: 'a shut gate never counts', at: [0, 1, 2, 3], gate: [0, 0, 0, 0], wanted: [0, 0, 0, 0] },
  {
    title: 'between full minutes nothing is reckoned anew',
    at: [0, 0.5, 1, 2, 2.5, 3],
    gate: [0, 1, 1, 1, 1, 1],
    wanted: [0, 0, 0, 0, 0, 1],
  },
  { title: 'a change between full minutes is seen', at: [0, 1, 2, 2.5, 3], gate: [1, 1, 1, 0, 0], wanted: [0, 0, 1, 0, 0] },
  {
    title: 'an unknown gate is unknown, and begins anew',
    at: [0, 1, 2, 3, 4, 5],
    gate: [1, _, _, 1, 1, 1],
    wanted: [0, _, _, 0, 0, 1],
  },
  {
    title: 'a gate that becomes unknown between full minutes is unknown',
    at: [0, 1, 2, 2.5],
    gate: [1, 1, 1, _],
    wanted: [0, 0, 1, _],
  },
  { title: 'a start between full minutes is told by the gate', at: [0.5, 1], gate: [0, 0], wanted: [0, 0] },
  { title: 'an unknown start between full minutes is unknown', at: [0.5, 0.7, 1], gate: [_, _, 1], wanted: [_, _, 0] },
  { title: 'unknown from the start is unknown', at: [0, 0.5, 1, 2], gate: [_, _, _, 0], wanted: [_, _, _, 0] },
]

const rowsOf = (at: number[]) => {
  const to = (Math.ceil(at.at(-1)!) + 1) * MINUTE
  const minute = Uint8Array.from(at, one => (Number.isInteger(one) ? 1 : 0))
  const day = { index: 0, date: '', from: at[0]! * MINUTE, to }
  return { day, n: at.length, t: Float64Array.from([...at.map(one => one * MINUTE), to]), minute, isMinutely: false }
}

for (const { title, at, gate, wanted } of CASES) {
  test(`settled after 2 min: ${title}, in one piece and cut into days at every row`, t => {
    for (let cut = 0; cut <= at.length; cut++) {
      let saved = {}
      const out: number[] = []
      for (const [from, to] of [
        [0, cut],
        [cut, at.length],
      ] as const) {
        if (from === to) continue
        const graph = new Graph()
        const input = { ...graph.constant(0), out: Float64Array.from(gate.slice(from, to)) }
        const node = settledNode(graph, input, 2 * MINUTE)
        graph.begin(saved)
        node.out = new Float64Array(to - from)
        node.run(rowsOf(at.slice(from, to)))
        node.dayIndex = 0
        saved = graph.save()
        out.push(...node.out)
      }
      t.deepEqual(out, wanted, `cut before row ${cut}`)
    }
  })
}

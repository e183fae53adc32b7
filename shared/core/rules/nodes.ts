/** Columns that need more than one row: windows by name, states, the day's median. */
import type { BaselineState } from './baseline.ts'
import type { Graph, Node } from './graph.ts'
import type { Rows } from './rows.ts'
import { between, cusum, deltaOf, eventSum, heldFor, lagged, quantile, reversal, stretchCount, type WindowOp } from './windows.ts'

const bothKnown = (from: number, to: number): boolean => from === from && to === to
const change = (from: number, to: number): number => (bothKnown(from, to) ? 1 : 0)
const rise = (from: number, to: number): number => (from === 0 && to === 1 ? 1 : 0)
const distance = (from: number, to: number): number => (bothKnown(from, to) ? Math.abs(to - from) : 0)

/** `covers`: most of the window must be known. The others say themselves when they know too little. */
const WINDOWS: Record<string, { create: (windowMs: number, extra: number) => WindowOp; covers: boolean }> = {
  median: { create: windowMs => quantile(windowMs, 0.5), covers: true },
  percentile: { create: quantile, covers: true },
  changes: { create: windowMs => eventSum(windowMs, change), covers: true },
  starts: { create: windowMs => eventSum(windowMs, rise), covers: true },
  travel: { create: windowMs => eventSum(windowMs, distance), covers: true },
  reversals: { create: (windowMs, deadband) => eventSum(windowMs, reversal(deadband)), covers: true },
  count: { create: stretchCount, covers: true },
  cusum: { create: cusum, covers: true },
  held: { create: heldFor, covers: false },
  lag: { create: lagged, covers: false },
  delta: { create: deltaOf, covers: false },
}

/** Those that have a loop of their own. The share of time in which a condition holds is the mean of its 0 and 1. */
const LOOPS: Record<string, (graph: Graph, input: Node, windowMs: number) => Node> = {
  avg: (graph, input, windowMs) => graph.average(input, windowMs),
  duty: (graph, input, windowMs) => graph.average(input, windowMs),
  min: (graph, input, windowMs) => graph.extreme(input, windowMs, -1),
  max: (graph, input, windowMs) => graph.extreme(input, windowMs, 1),
  range: (graph, input, windowMs) => graph.op('sub', graph.extreme(input, windowMs, 1), graph.extreme(input, windowMs, -1)),
}

export const isWindow = (name: string): boolean => Object.hasOwn(LOOPS, name) || Object.hasOwn(WINDOWS, name)

/** @param extra the function's further constant: a share, a dead band, a slack */
export function windowNode(graph: Graph, name: string, input: Node, windowMs: number, extra: number): Node {
  const loop = LOOPS[name]
  if (loop) return loop(graph, input, windowMs)
  const { create, covers } = WINDOWS[name]!
  return graph.window(`${name} ${windowMs} ${extra}`, input, covers ? windowMs : 0, () => create(windowMs, extra))
}

/** 1 once the gate has been open for `settleMs`, 0 before and while it is shut. */
export function settledNode(graph: Graph, gate: Node, settleMs: number): Node {
  return graph.own(`settled ${settleMs}`, [gate], node => {
    const state = { since: Number.NaN, last: Number.NaN, held: Number.NaN }
    return ({ n, t, minute }: Rows) => {
      const open = gate.out
      const out = node.out
      let { since, last, held } = state
      for (let i = 0; i < n; i++) {
        const value = open[i]!
        const changed = value !== last && (value === value || last === last)
        if (changed) since = value === 1 ? t[i]! : Number.NaN
        if (changed || minute[i] === 1) held = t[i]! - since >= settleMs ? 1 : value === value ? 0 : value
        last = value
        out[i] = held
      }
      Object.assign(state, { since, last, held })
    }
  })
}

/** Time since the condition was last true, s: 0 while it is, not evaluated before it ever was. */
export function sinceNode(graph: Graph, condition: Node): Node {
  let until = Number.NaN
  let holds = false
  const op: WindowOp = {
    push(t, value) {
      if (holds && value !== 1) until = t
      holds = value === 1
    },
    read: t => (holds ? 0 : (t - until) / 1000),
  }
  return graph.window('since', condition, 0, () => op)
}

/**
 * The median of the day's values while the rule looks; it stands from the moment at which the day has `minimumMs` of
 * them to the day's end. On a day that is not over, it is the median so far.
 */
export function dayMedianNode(graph: Graph, input: Node, active: Node, minimumMs: number): Node {
  return graph.own(`day_median ${minimumMs}`, [input, active], node => {
    let values = new Float64Array(0)
    return ({ n, t, minute }: Rows) => {
      if (values.length < n) values = new Float64Array(n)
      let count = 0
      let time = 0
      let enoughFrom = n
      for (let i = 0; i < n; i++) {
        if (minute[i] === 1 && time >= minimumMs && time > 0 && enoughFrom === n) enoughFrom = i
        if (active.out[i] !== 1 || input.out[i] !== input.out[i]) continue
        time += t[i + 1]! - t[i]!
        if (minute[i] === 1) values[count++] = input.out[i]!
      }
      const median = count > 0 ? between(values.subarray(0, count).toSorted(), count, 0.5) : Number.NaN
      node.out.fill(Number.NaN, 0, enoughFrom)
      node.out.fill(median, enoughFrom, n)
    }
  })
}

/** A figure of a baseline: the same for all of a day. */
export function baselineNode(graph: Graph, what: 'base' | 'spread' | 'cold', owner: string, state: BaselineState): Node {
  return graph.own(`${what} ${owner} ${state.spec.name}`, [], node => ({ n }) => {
    node.out.fill(what === 'base' ? state.value : what === 'spread' ? state.spread : state.view.cold ? 1 : 0, 0, n)
  })
}

/** `warm`, or the baseline's own wider tolerance while it is young. */
export function toleranceNode(graph: Graph, owner: string, state: BaselineState, warm: Node): Node {
  return graph.own(`tolerance ${owner} ${state.spec.name}`, [warm], node => ({ n }) => {
    if (state.view.cold && state.toleranceCold !== undefined) node.out.fill(state.toleranceCold, 0, n)
    else node.out.set(warm.out.subarray(0, n))
  })
}

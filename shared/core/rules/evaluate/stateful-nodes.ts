/** Nodes whose values depend on more than one row: windows by name, settling, the median of a day, baselines. */
import { nameTable } from '#shared/core/name-table.ts'
import { medianOf } from '#shared/core/series/statistics.ts'
import type { BaselineState } from './baseline.ts'
import { fittedAt } from './past-fit.ts'
import type { Build, Graph } from './graph.ts'
import type { Node } from './node.ts'
import { type NodeState, restoreState, saveState } from './node-state.ts'
import type { DayRows } from './day-rows.ts'
import {
  cusum,
  deltaOf,
  eventSum,
  heldFor,
  lagged,
  quantile,
  reversals,
  stretchCount,
  type WindowOp,
} from './window-operators.ts'

const bothKnown = (from: number, to: number): boolean => from === from && to === to
const change = (from: number, to: number): number => (bothKnown(from, to) ? 1 : 0)
const rise = (from: number, to: number): number => (from === 0 && to === 1 ? 1 : 0)
const distance = (from: number, to: number): number => (bothKnown(from, to) ? Math.abs(to - from) : 0)

type Create = (windowMs: number, extra: number, saved: NodeState | undefined) => WindowOp

/** `covers`: most of the window must be known. The other functions decide by themselves whether they know enough. */
const WINDOWS = nameTable<{ create: Create; covers: boolean }>({
  median: { create: (windowMs, _, saved) => quantile(windowMs, 0.5, saved), covers: true },
  percentile: { create: quantile, covers: true },
  changes: { create: (windowMs, _, saved) => eventSum(windowMs, change, saved), covers: true },
  starts: { create: (windowMs, _, saved) => eventSum(windowMs, rise, saved), covers: true },
  travel: { create: (windowMs, _, saved) => eventSum(windowMs, distance, saved), covers: true },
  reversals: { create: reversals, covers: true },
  count: { create: (windowMs, _, saved) => stretchCount(windowMs, saved), covers: true },
  cusum: { create: cusum, covers: true },
  held: { create: (windowMs, _, saved) => heldFor(windowMs, saved), covers: false },
  lag: { create: (windowMs, _, saved) => lagged(windowMs, saved), covers: false },
  delta: { create: (windowMs, _, saved) => deltaOf(windowMs, saved), covers: false },
})

/** Window functions with a loop of their own. */
const LOOPS = nameTable<(graph: Graph, input: Node, windowMs: number) => Node>({
  avg: (graph, input, windowMs) => graph.average(input, windowMs),
  duty: (graph, input, windowMs) => graph.duty(input, windowMs),
  min: (graph, input, windowMs) => graph.extreme(input, windowMs, -1),
  max: (graph, input, windowMs) => graph.extreme(input, windowMs, 1),
  range: (graph, input, windowMs) => graph.op('sub', graph.extreme(input, windowMs, 1), graph.extreme(input, windowMs, -1)),
})

export const isWindow = (name: string): boolean => Object.hasOwn(LOOPS, name) || Object.hasOwn(WINDOWS, name)

/** @param extra the additional constant of the function: a share, a dead band, a tolerance */
export function windowNode(graph: Graph, name: string, input: Node, windowMs: number, extra: number): Node {
  const loop = LOOPS[name]
  if (loop) return loop(graph, input, windowMs)
  const { create, covers } = WINDOWS[name]!
  return graph.window(`${name} ${windowMs} ${extra}`, input, covers ? windowMs : 0, saved => create(windowMs, extra, saved))
}

/** 1 once the gate has been open for `settleMs`, otherwise 0. */
export function settledNode(graph: Graph, gate: Node, settleMs: number): Node {
  const build: Build = (node, saved) => {
    const state = restoreState({ since: Number.NaN, last: Number.NaN, held: Number.NaN }, saved)
    node.save = () => saveState(state)
    return ({ n, t, minute }: DayRows) => {
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
  }
  return graph.own(`settled ${settleMs}`, [gate], build, true)
}

/**
 * Time for which the input has stayed within `bound`, ms: not evaluated while the input is unknown, 0 where it has just left
 * the bound.
 */
export function stillNode(graph: Graph, input: Node, bound: number): Node {
  const build: Build = (node, saved) => {
    const state = restoreState({ since: Number.NaN, low: Number.NaN, high: Number.NaN }, saved)
    node.save = () => saveState(state)
    return ({ n, t }: DayRows) => {
      const x = input.out
      const out = node.out
      let { since, low, high } = state
      for (let i = 0; i < n; i++) {
        const value = x[i]!
        low = Math.min(low, value)
        high = Math.max(high, value)
        if (!(high - low <= bound)) {
          low = high = value
          since = t[i]!
        }
        out[i] = value === value ? t[i]! - since : Number.NaN
      }
      Object.assign(state, { since, low, high })
    }
  }
  return graph.own(`still ${bound}`, [input], build, true)
}

/** Time since the condition was last true, s: 0 while it is true, not evaluated before it ever was. */
export function sinceNode(graph: Graph, condition: Node): Node {
  return graph.window('since', condition, 0, sinceHeld)
}

function sinceHeld(saved: NodeState | undefined): WindowOp {
  const held = restoreState({ until: Number.NaN, holds: false as boolean }, saved)
  return {
    push(t, value) {
      if (held.holds && value !== 1) held.until = t
      held.holds = value === 1
    },
    read: t => (held.holds ? 0 : (t - held.until) / 1000),
    save: () => saveState(held),
  }
}

/**
 * The median of the day's values while the gate is open. It is evaluated from the moment at which the day has `minimumMs` of
 * values until the end of the day. On a day that is not over, it is the median so far.
 */
export function dayMedianNode(graph: Graph, input: Node, active: Node, minimumMs: number): Node {
  return graph.own(`day_median ${minimumMs}`, [input, active], node => {
    let values = new Float64Array(0)
    return ({ n, t, minute }: DayRows) => {
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
      const median = count > 0 ? medianOf(values.subarray(0, count)) : Number.NaN
      node.out.fill(Number.NaN, 0, enoughFrom)
      node.out.fill(median, enoughFrom, n)
    }
  })
}

/** A value of a baseline, constant for the day. */
export function baselineNode(graph: Graph, what: 'base' | 'spread' | 'cold', owner: string, state: BaselineState): Node {
  return graph.own(`${what} ${owner} ${state.spec.name}`, [], node => ({ n }) => {
    node.out.fill(what === 'base' ? state.value : what === 'spread' ? state.spread : state.view.cold ? 1 : 0, 0, n)
  })
}

/** What a fitted baseline gives for the drivers of the moment; the fallback while it has too few days. */
export function fittedNode(graph: Graph, owner: string, state: BaselineState, on: Node[]): Node {
  return graph.own(`base ${owner} ${state.spec.name}`, on, node => ({ n }) => {
    const { fit } = state
    if (!fit) return void node.out.fill(state.value, 0, n)
    for (let row = 0; row < n; row++) node.out[row] = fittedAt(fit, on, row)
  })
}

/** `warm`, or the baseline's wider tolerance while it has too few days. */
export function toleranceNode(graph: Graph, owner: string, state: BaselineState, warm: Node): Node {
  return graph.own(`tolerance ${owner} ${state.spec.name}`, [warm], node => ({ n }) => {
    if (state.view.cold && state.toleranceCold !== undefined) node.out.fill(state.toleranceCold, 0, n)
    else node.out.set(warm.out.subarray(0, n))
  })
}

/**
 * The columns that the rules of one equipment need, each reckoned once a day however many rules ask for it.
 *
 * A node's column has one figure for every row of the day at hand: NaN where it is not evaluated.
 */
import { MINUTE } from '../time.ts'
import { MEAN } from './average.ts'
import { DAY_ROWS, giveColumnBack, takeColumn } from './columns.ts'
import { GREATEST, LEAST } from './extreme.ts'
import { choose, join, KERNELS } from './kernels.ts'
import { type Memory, recall, saveOf, within } from './memory.ts'
import { minuteRun, type TwoWays } from './minutes.ts'
import { Past } from './past.ts'
import type { Rows } from './rows.ts'
import { firstAtOrAfter, type Steps } from './steps.ts'
import { knownTime, type WindowOp } from './windows.ts'

export type Node = {
  id: number
  /** The day's figures: in a column of its own, or, of a role, in the samples themselves. */
  out: Float64Array
  own: Float64Array
  /** Its minutes, where windows look at them, and the node that keeps them. */
  minutes: Node | undefined
  past: Past | undefined
  inputs: Node[]
  run: (rows: Rows) => void
  /** Index of the day that `out` holds. */
  done: number
  /** Of `orderOf`, the last in which it was met. */
  round: number
  /** What it remembers after the day that `out` holds; only of those that remember anything. */
  save: (() => Memory) | undefined
  /** The role that a leaf reads. */
  steps: Steps | undefined
}

const NO_ROWS = new Float64Array(0)

/** Share of a window that must be known before its figure counts. */
const WINDOW_COVERAGE = 0.8

/** Why a role has no usable value at a row; 0 when it has. */
export const ROLE_STATES = ['ok', 'no_data', 'stale', 'out_of_range'] as const
const [, NO_DATA, STALE, OUT_OF_RANGE] = [0, 1, 2, 3] as const

export type Graph = ReturnType<typeof createGraph>
type Build = (node: Node, saved: Memory | undefined) => Node['run']

/** @param saved what the nodes of the same graph remembered, as its `save` gave it */
export function createGraph(saved: Readonly<Record<string, Memory>> = {}) {
  const nodes = new Map<string, Node>()
  const memories = new Map(Object.entries(saved))
  const constants = new Map<number, Node>()
  const make = (key: string, inputs: Node[], build: Build, steps?: Steps): Node => {
    const known = nodes.get(key)
    if (known) return known
    const node: Node = {
      id: nodes.size,
      out: NO_ROWS,
      own: NO_ROWS,
      inputs,
      run: () => undefined,
      done: -1,
      round: 0,
      save: undefined,
      steps,
      minutes: undefined,
      past: undefined,
    }
    node.run = build(node, memories.get(key))
    nodes.set(key, node)
    return node
  }
  const trailing = (name: string, input: Node, windowMs: number, ways: TwoWays): Node => {
    const w = windowMs / MINUTE
    const minutes = Number.isInteger(w) ? minutesOf(input) : undefined
    minutes?.past!.reserve(w)
    return make(key(`${name} ${windowMs}`, [input]), [minutes ?? input], (node, memory) =>
      minuteRun(node, { input, past: minutes?.past }, { windowMs, coverMs: WINDOW_COVERAGE * windowMs }, ways, memory),
    )
  }
  const minutesOf = (input: Node) =>
    (input.minutes ??= make(key('minutes', [input]), [input], (node, memory) => pastRun(node, input, memory)))
  return {
    /** By a name that is the same in every graph of the same rules on the same equipment. */
    save: (): Record<string, Memory> =>
      Object.fromEntries([...nodes].flatMap(([name, { save, done }]) => (save && done >= 0 ? [[name, save()]] : []))),
    constant(value: number): Node {
      const known = constants.get(value)
      if (known) return known
      const made = make(`const ${value}`, [], node => constantRun(node, value))
      constants.set(value, made)
      return made
    },
    role: (steps: Steps, raw: boolean): Node =>
      make(`role ${steps.equipment_id} ${steps.role} ${raw}`, [], node => roleRun(node, steps, raw), steps),
    age: (steps: Steps): Node =>
      make(`age ${steps.equipment_id} ${steps.role}`, [], (node, memory) => ageRun(node, steps, memory), steps),
    op: (op: string, ...inputs: Node[]): Node => make(key(op, inputs), inputs, node => opRun(node, op, inputs)),
    zones: (how: string, inputs: Node[]): Node =>
      make(key(`zones ${how}`, inputs), inputs, node => rows => {
        const columns = inputs.map(input => input.out)
        join(how, node.out, columns, rows.n)
      }),
    /** @param name operator with its window and constants, which make it what it is */
    window: (name: string, input: Node, coverMs: number, create: (saved: Memory | undefined) => WindowOp): Node =>
      make(key(name, [input]), [input], (node, memory) => windowRun(node, input, coverMs, create, memory)),
    average: (input: Node, windowMs: number): Node => trailing('avg', input, windowMs, MEAN),
    extreme: (input: Node, windowMs: number, sign: 1 | -1): Node =>
      trailing(`extreme ${sign}`, input, windowMs, sign === 1 ? GREATEST : LEAST),
    coverage: (input: Node, windowMs: number): Node =>
      make(key(`coverage ${windowMs}`, [input]), [input], (node, memory) => coverageRun(node, input, windowMs, memory)),
    /** A node that belongs to one rule alone. */
    own: (name: string, inputs: Node[], build: Build): Node => make(key(name, inputs), inputs, build),
  }
}

function key(op: string, inputs: Node[]): string {
  let name = op
  for (const { id } of inputs) name += ` ${id}`
  return name
}

let lastRound = 0

/** Every node that `roots` need, in an order in which each comes after its inputs; those in `but` are not among them. */
export function orderOf(roots: Node[], but: readonly Node[] = []): Node[] {
  const round = ++lastRound
  const order: Node[] = []
  const visit = (node: Node): void => {
    if (node.round === round) return
    node.round = round
    for (const input of node.inputs) visit(input)
    order.push(node)
  }
  for (const node of but) node.round = round
  for (const root of roots) visit(root)
  return order
}

/** Reckons the day's columns; those that another rule has already asked for are there. */
export function runNodes(order: Node[], rows: Rows): void {
  for (const node of order) {
    if (node.done === rows.day.index) continue
    if (node.own.length < rows.n) {
      giveColumnBack(node.own)
      node.own = takeColumn(rows.n <= DAY_ROWS ? DAY_ROWS : Math.ceil(rows.n * 1.25))
    }
    node.out = node.own
    node.run(rows)
    node.done = rows.day.index
  }
}

/** Lets go of columns and of what windows remember: an equipment is done, others are to come. */
export function releaseNodes(nodes: Node[]): void {
  for (const node of nodes) {
    giveColumnBack(node.own)
    node.past?.release()
    node.out = node.own = NO_ROWS
    node.inputs = []
    node.run = () => undefined
    node.save = undefined
  }
}

function pastRun(node: Node, input: Node, memory: Memory | undefined): Node['run'] {
  const past = new Past(memory)
  node.past = past
  node.save = () => past.save()
  return ({ n, isMinutely }) => past.add(input.out, n, isMinutely)
}

function constantRun(node: Node, value: number): Node['run'] {
  let filled = 0
  return () => {
    if (filled === node.out.length) return
    node.out.fill(value)
    filled = node.out.length
  }
}

function opRun(node: Node, op: string, inputs: Node[]): Node['run'] {
  const [a, b, c] = inputs as [Node, Node, Node]
  if (op === 'if') return ({ n }) => choose(node.out, a.out, b.out, c.out, n)
  const kernel = KERNELS[op]
  if (!kernel) throw new RangeError(`no operation ${op}`)
  return ({ n }) => kernel(node.out, a.out, (b ?? a).out, n)
}

/** A role's step function on the day's rows. */
function roleRun(node: Node, steps: Steps, raw: boolean): Node['run'] {
  const { ts, values, holdMs, minutely } = steps
  const low = raw ? -Infinity : steps.low
  const high = raw ? Infinity : steps.high
  let next = 0
  return ({ t, n, isMinutely }) => {
    const first = (t[0]! - ts[0]!) / MINUTE
    if (minutely && isMinutely && first >= 0 && first + n <= ts.length) {
      node.out = values.subarray(first, first + n)
      return
    }
    const out = node.out
    for (let i = 0; i < n; i++) {
      const at = t[i]!
      while (next < ts.length && ts[next]! <= at) next++
      const value = next > 0 && at < ts[next - 1]! + holdMs ? values[next - 1]! : Number.NaN
      out[i] = value >= low && value <= high ? value : Number.NaN
    }
  }
}

/** Why a role has no usable value at an instant: an index of `ROLE_STATES`. */
export function roleState(steps: Steps, at: number, raw: boolean): number {
  const index = firstAtOrAfter(steps.ts, at + 1) - 1
  if (index < 0) return NO_DATA
  if (at >= steps.ts[index]! + steps.holdMs) return STALE
  const value = steps.values[index]!
  if (value !== value) return NO_DATA
  return raw || (value >= steps.low && value <= steps.high) ? 0 : OUT_OF_RANGE
}

/** Time since the last sample that carried a value, s; known as soon as there was one. */
function ageRun(node: Node, { ts, values }: Steps, saved: Memory | undefined): Node['run'] {
  let next = 0
  const state = recall({ last: Number.NaN, held: Number.NaN }, saved)
  node.save = () => saveOf(state)
  return ({ t, minute, n }) => {
    const out = node.out
    let { last, held } = state
    for (let i = 0; i < n; i++) {
      const at = t[i]!
      for (; next < ts.length && ts[next]! <= at; next++) if (values[next] === values[next]) last = ts[next]!
      if (minute[i] === 1) held = (at - last) / 1000
      out[i] = held
    }
    Object.assign(state, { last, held })
  }
}

/** Reckons a window function at full minutes and whenever its input changes; between them its value rests. */
function windowRun(
  node: Node,
  input: Node,
  coverMs: number,
  create: (saved: Memory | undefined) => WindowOp,
  saved: Memory | undefined,
): Node['run'] {
  const op = create(within(saved, 'op'))
  const known = knownTime(coverMs, within(saved, 'known'))
  const enough = WINDOW_COVERAGE * coverMs
  /** `since`: from when on the input has been known without a break. */
  const state = recall({ last: Number.NaN, held: Number.NaN, since: Number.NaN }, saved)
  node.save = () => ({ ...saveOf(state), op: op.save(), known: known.save() })
  return ({ t, minute, n }) => {
    const x = input.out
    const out = node.out
    let { last, held, since } = state
    for (let i = 0; i < n; i++) {
      const at = t[i]!
      const value = x[i]!
      const there = value === value
      const changed = value !== last && (there || last === last)
      if (changed) {
        if (there !== (last === last)) {
          known.flip(at, there)
          since = at
        }
        op.push(at, value)
        last = value
      }
      if (changed || minute[i] === 1) {
        const covered = there && (at - since >= coverMs || known.read(at) >= enough)
        held = covered ? op.read(at) : Number.NaN
      }
      out[i] = held
    }
    Object.assign(state, { last, held, since })
  }
}

/** Share of the window in which the input was known; itself known from one window after the first value on. */
function coverageRun(node: Node, input: Node, windowMs: number, saved: Memory | undefined): Node['run'] {
  const known = knownTime(windowMs, within(saved, 'known'))
  const state = recall({ started: Number.NaN, last: false as boolean, held: Number.NaN }, saved)
  node.save = () => ({ ...saveOf(state), known: known.save() })
  return ({ t, minute, n }) => {
    let { started, last, held } = state
    for (let i = 0; i < n; i++) {
      const there = input.out[i] === input.out[i]
      if (there && started !== started) started = t[i]!
      if (there !== last) known.flip(t[i]!, there)
      if (there !== last || minute[i] === 1) held = t[i]! - started >= windowMs ? known.read(t[i]!) / windowMs : Number.NaN
      last = there
      node.out[i] = held
    }
    Object.assign(state, { started, last, held })
  }
}

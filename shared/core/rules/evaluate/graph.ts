/**
 * The columns that the rules of one equipment need, each reckoned once a day however many rules ask for it.
 *
 * A node's column has one figure for every row of the day at hand: NaN where it is not evaluated.
 */
import { DAY, MINUTE } from '#shared/core/time.ts'
import type { Leaf } from '#shared/core/rules/compile/equipment-context.ts'
import { MEAN } from './moving-average.ts'
import { constantColumn, DAY_ROWS, giveColumnBack, takeColumn } from './column-pool.ts'
import { GREATEST, LEAST } from './moving-extreme.ts'
import { selectBranch, aggregateZones, KERNELS } from './kernels.ts'
import { type NodeState, restoreState, saveState, nestedState } from './node-state.ts'
import { trailingWindowRun, type WindowFunction } from './trailing-window.ts'
import type { Node } from './node.ts'
import { MinuteHistory } from './minute-history.ts'
import { ageRun, roleRun } from './role-nodes.ts'
import type { DayRows } from './day-rows.ts'
import { knownTime, type WindowOp } from './window-operators.ts'

const NO_ROWS = new Float64Array(0)

/** Share of a window that must be known before its figure counts. */
const WINDOW_COVERAGE = 0.8

/**
 * A window longer than this does without minutes where it can: the steps that it still needs of two weeks are few, and a day
 * costs what is new in it.
 */
const MINUTES_MAX_MS = DAY

export type Graph = ReturnType<typeof createGraph>
export type Build = (node: Node, saved: NodeState | undefined) => Node['run']
/** What ties a node to one equipment. */
type Bound = { remembers?: boolean; leaf?: Leaf }

const idle = (): void => undefined

/** Nodes are made once for a shape of equipment; `begin` and `release` enclose what is reckoned for one of them. */
export function createGraph() {
  const nodes = new Map<string, Node>()
  /** Those that are made anew for each equipment: they read its samples, or remember. */
  const bound: { node: Node; key: string; build: Build }[] = []
  const constants = new Map<number, Node>()
  const make = (key: string, inputs: Node[], build: Build, { remembers = false, leaf }: Bound = {}): Node => {
    const known = nodes.get(key)
    if (known) return known
    const node: Node = {
      id: nodes.size,
      out: NO_ROWS,
      own: NO_ROWS,
      minutes: undefined,
      past: undefined,
      reach: 0,
      inputs,
      run: idle,
      done: -1,
      round: 0,
      remembers,
      save: undefined,
      leaf,
    }
    nodes.set(key, node)
    if (remembers || leaf) bound.push({ node, key, build })
    else node.run = build(node, undefined)
    return node
  }
  const trailing = (name: string, input: Node, windowMs: number, ways: WindowFunction, fewSteps: boolean): Node => {
    const w = windowMs / MINUTE
    const minutes = Number.isInteger(w) && !(fewSteps && windowMs > MINUTES_MAX_MS) ? minutesOf(input) : undefined
    if (minutes) minutes.reach = Math.max(minutes.reach, w)
    const window = { windowMs, coverMs: WINDOW_COVERAGE * windowMs }
    const build: Build = (node, memory) => trailingWindowRun(node, { input, past: minutes?.past }, window, ways, memory)
    return make(key(`${name} ${windowMs}`, [input]), [minutes ?? input], build, { remembers: true })
  }
  const minutesOf = (input: Node) =>
    (input.minutes ??= make(key('minutes', [input]), [input], (node, memory) => pastRun(node, input, memory), {
      remembers: true,
    }))
  return {
    /** @param saved what the nodes remembered of the equipment, as `save` gave it */
    begin(saved: Readonly<Record<string, NodeState>> = {}): void {
      for (const { node, key, build } of bound) node.run = build(node, saved[key])
    },
    /** Lets go of columns and of what windows remember: the equipment is done, others are to come. */
    release(): void {
      for (const node of nodes.values()) {
        giveColumnBack(node.own)
        node.past?.release()
        node.past = undefined
        node.out = node.own = NO_ROWS
        node.done = -1
        node.save = undefined
      }
      for (const { node } of bound) node.run = idle
    },
    /** By a name that is the same in every graph of the same rules on equipment of the same shape. */
    save(): Record<string, NodeState> {
      const saved = bound.flatMap(({ key, node: { save, done } }) => (save && done >= 0 ? [[key, save()] as const] : []))
      return Object.fromEntries(saved.filter(([, memory]) => Object.keys(memory).length > 0))
    },
    constant(value: number): Node {
      const known = constants.get(value)
      if (known) return known
      const made = make(`const ${value}`, [], node => constantRun(node, () => value))
      constants.set(value, made)
      return made
    },
    role: (leaf: Leaf, raw: boolean): Node =>
      make(`role ${leaf.place} ${leaf.role} ${raw}`, [], node => roleRun(node, leaf.steps, raw), { leaf }),
    age: (leaf: Leaf): Node =>
      make(`age ${leaf.place} ${leaf.role}`, [], (node, memory) => ageRun(node, leaf.steps, memory), { remembers: true, leaf }),
    /** Usual time between samples, s. */
    nominal: (leaf: Leaf): Node =>
      make(`nominal ${leaf.place} ${leaf.role}`, [], node => constantRun(node, () => leaf.steps.nominalMs / 1000)),
    op: (op: string, ...inputs: Node[]): Node => make(key(op, inputs), inputs, node => opRun(node, op, inputs)),
    zones: (how: string, inputs: Node[]): Node =>
      make(key(`zones ${how}`, inputs), inputs, node => rows => {
        const columns = inputs.map(input => input.out)
        aggregateZones(how, node.out, columns, rows.n)
      }),
    /** @param name operator with its window and constants, which make it what it is */
    window: (name: string, input: Node, coverMs: number, create: (saved: NodeState | undefined) => WindowOp): Node =>
      make(key(name, [input]), [input], (node, memory) => windowRun(node, input, coverMs, create, memory), { remembers: true }),
    average: (input: Node, windowMs: number): Node => trailing('avg', input, windowMs, MEAN, false),
    /** The mean of a condition, which rarely changes. */
    duty: (input: Node, windowMs: number): Node => trailing('avg', input, windowMs, MEAN, true),
    extreme: (input: Node, windowMs: number, sign: 1 | -1): Node =>
      trailing(`extreme ${sign}`, input, windowMs, sign === 1 ? GREATEST : LEAST, true),
    coverage: (input: Node, windowMs: number): Node =>
      make(key(`coverage ${windowMs}`, [input]), [input], (node, memory) => coverageRun(node, input, windowMs, memory), {
        remembers: true,
      }),
    /** A node that belongs to one rule alone. */
    own: (name: string, inputs: Node[], build: Build, remembers = false): Node =>
      make(key(name, inputs), inputs, build, { remembers }),
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
export function runNodes(order: Node[], rows: DayRows): void {
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

function pastRun(node: Node, input: Node, memory: NodeState | undefined): Node['run'] {
  const past = new MinuteHistory(memory, node.reach)
  node.past = past
  node.save = () => past.save()
  return ({ n, isMinutely }) => past.add(input.out, n, isMinutely)
}

function constantRun(node: Node, value: () => number): Node['run'] {
  return ({ n }) => {
    node.out = constantColumn(value(), n)
  }
}

function opRun(node: Node, op: string, inputs: Node[]): Node['run'] {
  const [a, b, c] = inputs as [Node, Node, Node]
  if (op === 'if') return ({ n }) => selectBranch(node.out, a.out, b.out, c.out, n)
  const kernel = KERNELS[op]
  if (!kernel) throw new RangeError(`no operation ${op}`)
  return ({ n }) => kernel(node.out, a.out, (b ?? a).out, n)
}

/** Reckons a window function at full minutes and whenever its input changes; between them its value rests. */
function windowRun(
  node: Node,
  input: Node,
  coverMs: number,
  create: (saved: NodeState | undefined) => WindowOp,
  saved: NodeState | undefined,
): Node['run'] {
  const op = create(nestedState(saved, 'op'))
  /** Nothing where a value is enough: whoever never asks would never forget either. */
  const known = coverMs > 0 ? knownTime(coverMs, nestedState(saved, 'known')) : undefined
  const enough = WINDOW_COVERAGE * coverMs
  /** `since`: from when on the input has been known without a break. */
  const state = restoreState({ last: Number.NaN, held: Number.NaN, since: Number.NaN }, saved)
  node.save = () => ({ ...saveState(state), op: op.save(), ...(known && { known: known.save() }) })
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
          known?.flip(at, there)
          since = at
        }
        op.push(at, value)
        last = value
      }
      if (changed || minute[i] === 1) {
        const covered = there && (at - since >= coverMs || known!.read(at) >= enough)
        if (there && !covered) op.forget?.(at)
        held = covered ? op.read(at) : Number.NaN
      }
      out[i] = held
    }
    Object.assign(state, { last, held, since })
  }
}

/** Share of the window in which the input was known; itself known from one window after the first value on. */
function coverageRun(node: Node, input: Node, windowMs: number, saved: NodeState | undefined): Node['run'] {
  const known = knownTime(windowMs, nestedState(saved, 'known'))
  const state = restoreState({ started: Number.NaN, last: false as boolean, held: Number.NaN }, saved)
  node.save = () => ({ ...saveState(state), known: known.save() })
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

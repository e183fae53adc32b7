/**
 * The columns that the rules of one equipment need. Each is calculated once a day, however many rules use it.
 *
 * A column has one value for every row of the current day; NaN where it is not evaluated.
 */
import type { Leaf } from '#shared/core/rules/compile/equipment-context.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { ColumnPool, DAY_ROWS } from './column-pool.ts'
import type { DayRows } from './day-rows.ts'
import { aggregateZones, KERNELS, selectBranch } from './kernels.ts'
import { MinuteHistory } from './minute-history.ts'
import { MEAN } from './moving-average.ts'
import { GREATEST, LEAST } from './moving-extreme.ts'
import type { Node } from './node.ts'
import { type NodeState, nestedState, restoreState, saveState } from './node-state.ts'
import { ageRun, roleRun } from './role-nodes.ts'
import { trailingWindowRun, type WindowFunction } from './trailing-window.ts'
import { knownTime, type WindowOp } from './window-operators.ts'

const NO_ROWS = new Float64Array(0)

/** Share of a window that must be known before its value counts. */
const WINDOW_COVERAGE = 0.8

/**
 * Window functions that can do so calculate longer windows from changes instead of minutes: two weeks of a slow signal have
 * few changes, and a day then costs only what is new in it.
 */
const MINUTES_MAX_MS = DAY

export type Build = (node: Node, saved: NodeState | undefined) => Node['run']
type NodeTraits = { isStateful?: boolean; leaf?: Leaf }
type CreateOperator = (saved: NodeState | undefined) => WindowOp

const idle = (): void => undefined

/**
 * The nodes of one template. They are built once; `begin` and `release` enclose the evaluation of each equipment that uses
 * the template.
 */
export class Graph {
  private readonly columns: ColumnPool
  private readonly nodes = new Map<string, Node>()
  /** Nodes whose `run` is built for each equipment, because they read its samples or are stateful. */
  private readonly bound: { node: Node; key: string; build: Build }[] = []
  private readonly constants = new Map<number, Node>()

  constructor(columns: ColumnPool = new ColumnPool()) {
    this.columns = columns
  }

  /** @param saved the states of the equipment's nodes, as `save` gave them */
  begin(saved: Readonly<Record<string, NodeState>> = {}): void {
    for (const { node, key, build } of this.bound) node.run = build(node, saved[key])
  }

  /** Gives back the column of a node that nothing reads any more on this day. */
  releaseColumn(node: Node): void {
    this.columns.release(node.buffer)
    node.out = node.buffer = NO_ROWS
  }

  /** Gives back the columns and states of the equipment, which is done. */
  release(): void {
    for (const node of this.nodes.values()) {
      this.releaseColumn(node)
      node.history?.release()
      node.history = undefined
      node.dayIndex = -1
      node.save = undefined
    }
    for (const { node } of this.bound) node.run = idle
  }

  /** @returns states by a key that is the same in every graph of the same rules on equipment of the same structure */
  save(): Record<string, NodeState> {
    const saved = this.bound.flatMap(({ key, node: { save, dayIndex } }) =>
      save && dayIndex >= 0 ? [[key, save()] as const] : [],
    )
    return Object.fromEntries(saved.filter(([, state]) => Object.keys(state).length > 0))
  }

  /** Calculates the day's columns, except those that another rule has already asked for. */
  run(order: Node[], rows: DayRows): void {
    for (const node of order) {
      if (node.dayIndex === rows.day.index) continue
      if (node.buffer.length < rows.n) {
        this.columns.release(node.buffer)
        node.buffer = this.columns.take(rows.n <= DAY_ROWS ? DAY_ROWS : Math.ceil(rows.n * 1.25))
      }
      node.out = node.buffer
      node.run(rows)
      node.dayIndex = rows.day.index
    }
  }

  // ---- nodes

  constant(value: number): Node {
    const known = this.constants.get(value)
    if (known) return known
    const made = this.node(`const ${value}`, [], node => this.constantRun(node, () => value))
    this.constants.set(value, made)
    return made
  }

  role(leaf: Leaf, raw: boolean): Node {
    return this.node(`role ${leaf.place} ${leaf.role} ${raw}`, [], node => roleRun(node, leaf.signal, raw), { leaf })
  }

  /** Time since the last usable sample, s. */
  age(leaf: Leaf): Node {
    const build: Build = (node, state) => ageRun(node, leaf.signal, state)
    return this.node(`age ${leaf.place} ${leaf.role}`, [], build, { isStateful: true, leaf })
  }

  /** Usual time between samples, s. */
  nominal(leaf: Leaf): Node {
    const seconds = () => leaf.signal.nominalMs / 1000
    return this.node(`nominal ${leaf.place} ${leaf.role}`, [], node => this.constantRun(node, seconds))
  }

  op(op: string, ...inputs: Node[]): Node {
    return this.node(keyOf(op, inputs), inputs, node => opRun(node, op, inputs))
  }

  zones(how: string, inputs: Node[]): Node {
    return this.node(keyOf(`zones ${how}`, inputs), inputs, node => rows => {
      const columns = inputs.map(input => input.out)
      aggregateZones(how, node.out, columns, rows.n)
    })
  }

  /** @param name identifies the operator with its window and constants */
  window(name: string, input: Node, coverMs: number, create: CreateOperator): Node {
    return this.own(name, [input], (node, state) => windowRun(node, input, coverMs, create, state), true)
  }

  average(input: Node, windowMs: number): Node {
    return this.trailing('avg', input, windowMs, MEAN, false)
  }

  /** The mean of a condition, which rarely changes. */
  duty(input: Node, windowMs: number): Node {
    return this.trailing('avg', input, windowMs, MEAN, true)
  }

  extreme(input: Node, windowMs: number, sign: 1 | -1): Node {
    return this.trailing(`extreme ${sign}`, input, windowMs, sign === 1 ? GREATEST : LEAST, true)
  }

  coverage(input: Node, windowMs: number): Node {
    return this.own(`coverage ${windowMs}`, [input], (node, state) => coverageRun(node, input, windowMs, state), true)
  }

  /** A node with a calculation of its own. */
  own(name: string, inputs: Node[], build: Build, isStateful = false): Node {
    return this.node(keyOf(name, inputs), inputs, build, { isStateful })
  }

  private node(key: string, inputs: Node[], build: Build, { isStateful = false, leaf }: NodeTraits = {}): Node {
    const known = this.nodes.get(key)
    if (known) return known
    const node: Node = {
      id: this.nodes.size,
      out: NO_ROWS,
      buffer: NO_ROWS,
      minutesNode: undefined,
      history: undefined,
      reach: 0,
      inputs,
      run: idle,
      dayIndex: -1,
      isStateful,
      save: undefined,
      leaf,
    }
    this.nodes.set(key, node)
    if (isStateful || leaf) this.bound.push({ node, key, build })
    else node.run = build(node, undefined)
    return node
  }

  private trailing(name: string, input: Node, windowMs: number, fn: WindowFunction, fewChanges: boolean): Node {
    const w = windowMs / MINUTE
    const minutes = Number.isInteger(w) && !(fewChanges && windowMs > MINUTES_MAX_MS) ? this.minutesOf(input) : undefined
    if (minutes) minutes.reach = Math.max(minutes.reach, w)
    const window = { windowMs, coverMs: WINDOW_COVERAGE * windowMs }
    const build: Build = (node, state) => trailingWindowRun(node, { input, history: minutes?.history }, window, fn, state)
    return this.node(keyOf(`${name} ${windowMs}`, [input]), [minutes ?? input], build, { isStateful: true })
  }

  private minutesOf(input: Node): Node {
    input.minutesNode ??= this.own('minutes', [input], (node, state) => this.historyRun(node, input, state), true)
    return input.minutesNode
  }

  private historyRun(node: Node, input: Node, state: NodeState | undefined): Node['run'] {
    const history = new MinuteHistory(state, node.reach, this.columns)
    node.history = history
    node.save = () => history.save()
    return ({ n, isMinutely }) => history.add(input.out, n, isMinutely)
  }

  private constantRun(node: Node, value: () => number): Node['run'] {
    return ({ n }) => {
      node.out = this.columns.constant(value(), n)
    }
  }
}

function keyOf(op: string, inputs: Node[]): string {
  let name = op
  for (const { id } of inputs) name += ` ${id}`
  return name
}

/** @returns every node that `roots` need and that is not in `known`, each after its inputs */
export function orderOf(roots: Node[], known: readonly Node[] = []): Node[] {
  const visited = new Set(known)
  const order: Node[] = []
  const visit = (node: Node): void => {
    if (visited.has(node)) return
    visited.add(node)
    for (const input of node.inputs) visit(input)
    order.push(node)
  }
  for (const root of roots) visit(root)
  return order
}

function opRun(node: Node, op: string, inputs: Node[]): Node['run'] {
  const [a, b, c] = inputs as [Node, Node, Node]
  if (op === 'if') return ({ n }) => selectBranch(node.out, a.out, b.out, c.out, n)
  const kernel = KERNELS[op]
  if (!kernel) throw new RangeError(`no operation ${op}`)
  return ({ n }) => kernel(node.out, a.out, (b ?? a).out, n)
}

/** Calculates a window function at full minutes and whenever its input changes; in between its value is constant. */
function windowRun(node: Node, input: Node, coverMs: number, create: CreateOperator, saved: NodeState | undefined): Node['run'] {
  const op = create(nestedState(saved, 'op'))
  /** Undefined where one known value is enough: an operator that is never read would never drop old values either. */
  const known = coverMs > 0 ? knownTime(coverMs, nestedState(saved, 'known')) : undefined
  const enough = WINDOW_COVERAGE * coverMs
  /** `since`: the instant since which the input has been known without interruption. */
  const state = restoreState({ last: Number.NaN, held: Number.NaN, since: Number.NaN }, saved)
  node.save = () => ({ ...saveState(state), op: op.save(), ...(known && { known: known.save() }) })
  return ({ t, minute, n }) => {
    const x = input.out
    const out = node.out
    let { last, held, since } = state
    for (let i = 0; i < n; i++) {
      const at = t[i]!
      const value = x[i]!
      const isKnown = value === value
      const isChange = value !== last && (isKnown || last === last)
      if (isChange) {
        if (isKnown !== (last === last)) {
          known?.flip(at, isKnown)
          since = at
        }
        op.push(at, value)
        last = value
      }
      if (isChange || minute[i] === 1) {
        const isCovered = isKnown && (at - since >= coverMs || known!.read(at) >= enough)
        if (isKnown && !isCovered) op.pass?.(at)
        held = isCovered ? op.read(at) : Number.NaN
      }
      out[i] = held
    }
    Object.assign(state, { last, held, since })
  }
}

/** Share of the window in which the input was known; not evaluated until one window after the first value. */
function coverageRun(node: Node, input: Node, windowMs: number, saved: NodeState | undefined): Node['run'] {
  const known = knownTime(windowMs, nestedState(saved, 'known'))
  const state = restoreState({ started: Number.NaN, last: false as boolean, held: Number.NaN }, saved)
  node.save = () => ({ ...saveState(state), known: known.save() })
  return ({ t, minute, n }) => {
    let { started, last, held } = state
    for (let i = 0; i < n; i++) {
      const isKnown = input.out[i] === input.out[i]
      if (isKnown && started !== started) started = t[i]!
      if (isKnown !== last) known.flip(t[i]!, isKnown)
      if (isKnown !== last || minute[i] === 1) held = t[i]! - started >= windowMs ? known.read(t[i]!) / windowMs : Number.NaN
      last = isKnown
      node.out[i] = held
    }
    Object.assign(state, { started, last, held })
  }
}

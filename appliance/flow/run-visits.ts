/** Visits one device after the other and stores their priority arrays. It only reads; it has no way to command a device. */
import type { Clock, PriorityJournal } from '#shared/core/ports.ts'
import type { Visit, VisitSchedule } from '#shared/core/priority/visit.ts'
import { Problem } from '#shared/core/problem.ts'
import { SECOND } from '#shared/core/time.ts'
import { failureReason, readingsOf, readingsToStore } from '../core/priority/array-answer.ts'
import type { KnownIdentity } from '../core/priority/device-identity.ts'
import type { PriorityDevice, PriorityObject } from '../core/priority/visit-objects.ts'
import { advanceCursor, newlyNotCommandable } from '../core/priority/visit-plan.ts'
import {
  beginVisit,
  describeSchedule,
  deviceAfter,
  deviceMemory,
  dueObjectsOf,
  endVisit,
  findDevice,
  newVisit,
  nextDue,
  nextStep,
  rememberDevice,
  type Schedule,
  type ScheduleMemory,
  type ScheduleSettings,
} from '../core/priority/visit-schedule.ts'
import { type PriorityReader, visitDevice } from './visit-device.ts'

type VisitRunnerDeps = ScheduleSettings & {
  reader: PriorityReader
  journal: Pick<PriorityJournal, 'append' | 'latest' | 'state'>
  /** The devices of the current catalogue that have objects to read. */
  devices(): PriorityDevice[]
  memory: ScheduleMemory
  /** Durable when resolved. */
  save(memory: ScheduleMemory): Promise<void>
  clock: Clock
  newId(): string
  notify(event: VisitEvent): void
  /** Ends the loop and the visit under way. */
  signal: AbortSignal
}
/** Events for the log. */
export type VisitEvent =
  | { kind: 'visit_over'; visit: Visit }
  | { kind: 'not_commandable'; device_id: string; objects: PriorityObject[] }
  | { kind: 'replaced'; device_id: string; identity: KnownIdentity }
  | { kind: 'saved' }
  | { kind: 'not_saved'; error: unknown }

/** Makes the visits: on schedule while `run` is active, and on request. At most one visit is under way. */
export class VisitRunner implements VisitSchedule {
  readonly #deps: VisitRunnerDeps
  readonly #intervalMs: number
  #schedule: Schedule
  /** The visit under way. It is set until the result has been saved, so no second visit can begin before that. */
  #current: { visit: Visit; done: Promise<void> } | undefined

  constructor(deps: VisitRunnerDeps) {
    this.#deps = deps
    this.#intervalMs = deps.interval_secs * SECOND
    this.#schedule = { memory: deps.memory, visits: [] }
  }

  /** Makes visits on schedule until the signal aborts. */
  async run(): Promise<void> {
    const { clock, signal } = this.#deps
    this.#setNextDue(nextDue(this.#schedule.memory.next_due_at, clock.now(), this.#intervalMs))
    while (!signal.aborted) {
      if (this.#current) {
        await this.#current.done
        continue
      }
      const step = nextStep(this.#schedule.memory, clock.now(), this.#intervalMs, this.#disabledReason() === undefined)
      if (step.kind === 'visit') this.#begin('scheduled', this.#nextDevice()!)
      else {
        this.#setNextDue(step.next_due_at)
        await clock.sleep(step.ms, signal)
      }
    }
  }

  /** Resolves when no visit is under way. */
  async settled(): Promise<void> {
    await this.#current?.done
  }

  state() {
    const { clock, devices } = this.#deps
    const isVisiting = this.#current !== undefined
    const reason = isVisiting ? undefined : this.#disabledReason()
    return describeSchedule(this.#schedule, this.#deps, { isVisiting, reason, devices: devices(), now: clock.now() })
  }

  trigger(device_instance?: number, device_id?: string) {
    if (this.#current) {
      const { visit_id, device_instance: visited } = this.#current.visit
      throw new Problem('visit_in_progress', `Visit ${visit_id} to device ${visited} is under way; wait until it is over`)
    }
    const reason = this.#disabledReason()
    if (reason !== undefined) throw new Problem('scanner_disabled', `Priority arrays are not visited: ${reason}`)
    const isNamed = device_instance !== undefined || device_id !== undefined
    const device = isNamed ? findDevice(this.#readableDevices(), device_instance, device_id) : this.#nextDevice()!
    const { visit_id } = this.#begin('triggered', device)
    return { visit_id, device_id: device.device_id, device_instance: device.device_instance }
  }

  visit(visit_id: string): Visit | undefined {
    return this.#schedule.visits.find(visit => visit.visit_id === visit_id)
  }

  #disabledReason(): string | undefined {
    const { enabled, signal, journal } = this.#deps
    if (!enabled) return 'SERVICE_PRIORITY_SCAN_ENABLED=1 switches it on'
    if (signal.aborted) return 'this process is stopping'
    const state = journal.state()
    if (state.journal === 'disabled') return `history is disabled: ${state.reason ?? 'no reason is known'}`
    return this.#readableDevices().length > 0 ? undefined : 'no BACnet device of the list has a point to visit'
  }

  #dueObjects(device: PriorityDevice): PriorityObject[] {
    return dueObjectsOf(this.#schedule.memory, device, this.#deps, this.#deps.clock.now())
  }

  #readableDevices(): PriorityDevice[] {
    return this.#deps.devices().filter(device => this.#dueObjects(device).length > 0)
  }

  #nextDevice(): PriorityDevice | undefined {
    return deviceAfter(this.#readableDevices(), this.#schedule.memory.after_device)
  }

  #setNextDue(next_due_at: number): void {
    const { memory, visits } = this.#schedule
    this.#schedule = { memory: { ...memory, next_due_at }, visits }
  }

  #remember({ device_id }: PriorityDevice, memory: ReturnType<typeof deviceMemory>): void {
    this.#schedule = rememberDevice(this.#schedule, this.#deps.devices(), device_id, memory)
  }

  #begin(source: Visit['source'], device: PriorityDevice): Visit {
    const visit = newVisit(this.#deps.newId(), source, device, this.#deps.clock.now())
    this.#schedule = beginVisit(this.#schedule, visit, this.#nextDevice())
    const done = this.#visit(visit, device, this.#dueObjects(device)).finally(() => {
      this.#current = undefined
    })
    this.#current = { visit, done }
    return visit
  }

  /** @param due at least one: a device without any is not visited */
  async #visit(visit: Visit, device: PriorityDevice, due: PriorityObject[]): Promise<void> {
    const { clock, notify, save } = this.#deps
    const result = await this.#readAndStore(visit, device, due).catch(
      (error: Error): VisitResult => ({ state: 'failed', points_read: 0, points_failed: due.length, error: error.message }),
    )
    const ended = { ...visit, ...result, completed_at: clock.now() }
    this.#schedule = endVisit(this.#schedule, ended, clock.now() + this.#intervalMs)
    notify({ kind: 'visit_over', visit: ended })
    await save(this.#schedule.memory).then(
      () => notify({ kind: 'saved' }),
      (error: unknown) => notify({ kind: 'not_saved', error }),
    )
  }

  /** @throws Error when the journal refuses the readings; the same objects are then read again */
  async #readAndStore({ source }: Visit, device: PriorityDevice, due: PriorityObject[]): Promise<VisitResult> {
    const { journal, clock, notify } = this.#deps
    const { device_id } = device
    const known = deviceMemory(this.#schedule.memory, device)
    const visited = await visitDevice(this.#deps, device, due, known.occupant ?? {})
    const { answers, endedEarly, isOther, isReplaced, identity } = visited
    // The identity counts even when the journal refuses the readings.
    this.#remember(device, { ...known, occupant: identity })
    if (isReplaced) notify({ kind: 'replaced', device_id, identity })
    const readings = readingsOf(answers, source)
    await journal.append(readingsToStore(readings, journal.latest()))
    const objects = newlyNotCommandable(known, answers)
    this.#remember(device, { ...advanceCursor(known, device.objects, answers, clock.now()), occupant: identity })
    if (objects.length > 0) notify({ kind: 'not_commandable', device_id, objects })
    const answered = readings.length + answers.filter(({ state }) => state === 'not_commandable').length
    return {
      state: answered > 0 ? 'completed' : 'failed',
      points_read: readings.length,
      points_failed: due.length - answered,
      error: endedEarly ?? failureReason(answers),
      ...(isOther && { is_other_device: true }),
    }
  }
}

type VisitResult = Pick<Visit, 'state' | 'points_read' | 'points_failed' | 'error' | 'is_other_device'>

/** Runs one discovery at a time. Its progress can be watched, and an operator decides which devices are added. */
import { randomUUID } from 'node:crypto'
import { compareWithCatalogue, type DeviceChange } from '../core/discovery/changes.ts'
import { estimateTraffic, type Traffic } from '../core/discovery/traffic.ts'
import { diagnose, type NetworkFacts, type Diagnosis } from '../core/discovery/diagnosis.ts'
import { type Discovery, type DiscoveryRequest, endDiscovery, createDiscovery, addLogLine } from '../core/discovery/discovery.ts'
import type { Clock } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import { discover, type DiscoveryWire } from '../flow/discover.ts'
import type { Service } from '#shared/node/service.ts'
import { ConfigError } from '../../../store/json-file.ts'
import { type Addition, type AdditionChoice, planAdditions, withAdditions } from './additions.ts'
import type { FieldCatalogue } from '../../../services/field-catalogue.ts'

/** Facts about the network from the open transport. */
type WireFacts = Pick<NetworkFacts, 'speaking' | 'manager'>
/** The transport while a discovery runs. `facts` counts from the beginning of the loan. */
type DiscoveryLoan = { wire: DiscoveryWire; facts(): WireFacts; release(): Promise<void> }

type DiscoveryParts = {
  /** false: every start is refused. */
  enabled: boolean
  /** Opens the transport, or shares it with polling. @throws Error when the port cannot be used */
  borrow(): Promise<DiscoveryLoan>
  /** Networks of the machine, and the process that uses the port, which is this one when `isOpen`. */
  machine(isOpen: boolean): Pick<NetworkFacts, 'bind' | 'machine' | 'holder'>
  catalogue: Pick<FieldCatalogue, 'current' | 'change'>
  clock: Clock
}

export type Preview = {
  additions: Addition[]
  devices: number
  /** Points that are not in the catalogue yet. */
  points: number
  /** Of everything that is polled, now and with the additions. */
  before: Traffic
  after: Traffic
}
type Added = { at: number; devices: number; points: number }

export type DiscoveryService = Service & {
  readonly enabled: boolean
  /** Wall clock, ms since 1970 UTC, also when a simulated site runs faster. */
  now(): number
  /** @throws Problem discovery_disabled or discovery_in_progress */
  begin(request: DiscoveryRequest): Discovery
  /** Ends the running discovery, if any; its results so far are kept. */
  halt(): void
  /** The newest discovery. */
  current(): Discovery | undefined
  /** Diagnosis of the result; undefined while it runs. */
  why(): Diagnosis | undefined
  /** Compared with the current catalogue; empty while a discovery runs. */
  changes(): DeviceChange[]
  /** @throws Problem invalid that lists every device that cannot be added */
  preview(choice: AdditionChoice): Preview
  /** Adds the devices to the catalogue; they are polled from then on. @throws Problem invalid */
  add(choice: AdditionChoice): Promise<Added & { device_ids: string[] }>
  lastAdded(): Added | undefined
}

type Job = { discovery: Discovery; stop: AbortController; running: Promise<void>; why: Diagnosis | undefined }
const NO_FACTS: WireFacts = { speaking: [], manager: null }

/** The function is long because all requests and the run share the current job. */
export function discoveryService({ enabled, borrow, machine, catalogue, clock }: DiscoveryParts): DiscoveryService {
  let job: Job | undefined
  let added: Added | undefined

  async function run(own: Job): Promise<void> {
    const { discovery, stop } = own
    const loan = await borrow().catch((error: Error) => {
      discovery.error = error.message
      addLogLine(discovery, clock.now(), error.message)
      endDiscovery(discovery, 'failed', clock.now())
    })
    if (!loan) {
      own.why = diagnose(discovery, { ...machine(false), ...NO_FACTS, error: discovery.error })
      return
    }
    try {
      await discover({ wire: loan.wire, clock }, discovery, stop.signal)
      own.why = diagnose(discovery, { ...machine(true), ...loan.facts(), error: null })
    } finally {
      await loan.release()
    }
  }

  const changes = () => {
    if (!job || job.discovery.state === 'running') return []
    return compareWithCatalogue(job.discovery.request, job.discovery.devices, catalogue.current().devices)
  }
  const plan = (choice: AdditionChoice) => {
    if (job?.discovery.state === 'running') {
      throw new Problem('invalid', 'Nothing was added: the discovery is still running; wait for it or stop it')
    }
    const { additions, errors } = planAdditions(catalogue.current(), job?.discovery.devices ?? [], changes(), choice)
    if (errors.length) throw new Problem('invalid', `Nothing was added: ${errors[0]!.message}`, errors)
    return additions
  }

  return {
    name: 'discovery',
    enabled,
    now: clock.now,
    start: async () => undefined,
    async stop() {
      job?.stop.abort()
      await job?.running
    },
    begin(request) {
      if (!enabled) throw new Problem('discovery_disabled', 'Discovery is switched off by SERVICE_BACNET_DISCOVERY=0')
      if (job?.discovery.state === 'running') {
        throw new Problem('discovery_in_progress', `Discovery ${job.discovery.job_id} is running; wait for it or stop it`)
      }
      const discovery = createDiscovery(randomUUID(), request, clock.now())
      job = { discovery, stop: new AbortController(), running: Promise.resolve(), why: undefined }
      // Its failure is not handled: it would be a programming error, which ends the process.
      job.running = run(job)
      return discovery
    },
    halt: () => job?.stop.abort(),
    current: () => job?.discovery,
    why: () => job?.why,
    changes,
    preview(choice) {
      const additions = plan(choice)
      return { additions, ...countsOf(additions), ...trafficOf(catalogue.current(), additions) }
    },
    async add(choice) {
      let additions: Addition[] = []
      const change = catalogue.change(current => {
        additions = plan(choice)
        return withAdditions(current, additions)
      })
      await change.catch((error: unknown) => {
        if (!(error instanceof ConfigError)) throw error
        throw new Problem('invalid', 'Nothing was added: the list of devices would not be valid', error.complaints)
      })
      added = { at: clock.now(), ...countsOf(additions) }
      return { ...added, device_ids: additions.map(({ entry }) => entry.device_id) }
    },
    lastAdded: () => added,
  }
}

const countsOf = (additions: readonly Addition[]) => ({
  devices: additions.length,
  points: additions.reduce((sum, { new_points }) => sum + new_points.length, 0),
})

const trafficOf = (current: ReturnType<FieldCatalogue['current']>, additions: Addition[]) => ({
  before: estimateTraffic(current.devices),
  after: estimateTraffic(withAdditions(current, additions).devices),
})

/** The parts that every process which polls has in common: storage of readings, poll service and uplink. */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Settings } from '#shared/core/env.ts'
import type { Point } from '#shared/core/model/model.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import type { Service } from '#shared/node/service.ts'
import type { FieldProtocol } from '../drivers/protocol.ts'
import type { UPLINK_VARIABLES } from '../env.ts'
import { type LookUpFindings, type TelemetryBody, telemetryBodies } from '../core/outbox/outbox-messages.ts'
import type { SiteSettings } from '../store/site.ts'
import type { DeviceCatalogue } from '../store/catalogue-schema.ts'
import type { FieldCatalogue } from './field-catalogue.ts'
import { fieldModel } from './model-sync.ts'
import type { EdgeDescription } from './publisher.ts'
import { PollService } from './poll-service.ts'
import { versionNotBefore } from '#shared/node/version-not-before.ts'
import { openReadingStorage, type ReadingStorage } from './reading-storage.ts'
import { createUplink, type Uplink, type UplinkOptions } from './uplink.ts'

export type EdgeOptions = Pick<UplinkOptions, 'kits' | 'central' | 'operations'> & {
  settings: Settings<typeof UPLINK_VARIABLES>
  site: SiteSettings
  catalogue: FieldCatalogue
  /** Devices of other protocols belong to another process. */
  protocols: readonly FieldProtocol[]
  version: string
  /** The rule runs; only where this process runs the rules. */
  rules?: LocalRules
  /** What the status tells about the system of the box. */
  system?: EdgeDescription['system']
  clock: Clock
  log: Logger
}

/** The history, findings and points of the rules in this process. */
export type LocalRules = {
  history: Sink
  lookUpFindings: LookUpFindings
  /** The points as operators have assigned them. */
  knownPoints: () => Point[]
  /** When the newest run of the rules ended; null before the first. */
  lastCheckAt: () => number | null
}

export type EdgeServices = {
  storage: ReadingStorage
  polling: PollService
  uplink: Uplink
  /** Storage and publishers: they start before anything is polled or found. */
  storageServices: Service[]
  pollServices: Service[]
}

/** @throws Error when the outbox cannot be written */
export async function openEdge(options: EdgeOptions): Promise<EdgeServices> {
  const { settings, site, catalogue, protocols, kits, central, version, operations, rules, system, clock, log } = options
  const { site_id, edge_id, building } = site
  const newest = newestCatalogue(catalogue)
  const storage = await openReadingStorage({
    settings,
    destinations: [...(kits ? ['hub' as const] : []), ...(central ? ['central' as const] : [])],
    history: rules?.history,
    lookUpFindings: rules?.lookUpFindings,
    catalogue,
    notBefore: () => versionNotBefore(clock),
    clock,
    log,
  })
  const polling = new PollService({ catalogue: catalogue.current(), protocols, sinks: storage.sinks, clock, log })
  const edge = {
    site_id,
    edge_id,
    boot_id: randomUUID(),
    runs_rules: rules !== undefined,
    lastCheckAt: rules?.lastCheckAt,
    model: () => ({ name: building.name, version, ...fieldModel(site, newest(), rules?.knownPoints()) }),
    pollStatus: () => polling.pollStatus(),
    system,
    newestReadings: () => newestBodies(polling),
  }
  const uplink = createUplink({ outbox: storage.outbox, kits, central, edge, operations, clock, log })

  catalogue.onChange(next => polling.reload(next))
  catalogue.onUsed(uplink.announce)
  // Sent once polling has started: the other side then need not wait for the next status.
  const announcing: Service = { name: 'announce', start: async () => uplink.announce(), stop: async () => undefined }
  return {
    storage,
    polling,
    uplink,
    storageServices: [...storage.services, ...uplink.publishers],
    pollServices: [polling, announcing],
  }
}

const newestBodies = (polling: PollService): TelemetryBody[] =>
  polling.newestReadings().flatMap(({ protocol, readings }) => telemetryBodies(readings, () => protocol))

/** The list of devices including a change that is being carried out: points are announced before their first reading. */
function newestCatalogue(catalogue: FieldCatalogue): () => DeviceCatalogue {
  let newest = catalogue.current()
  catalogue.onChange(next => {
    newest = next
  })
  return () => newest
}

/** The way to a hub as the mains wire it: kit, outbox and forwarder, or nothing when there is no hub. */
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Settings } from '#shared/core/env.ts'
import type { Finding } from '#shared/core/finding.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import type { EdgeModel } from '#shared/core/telemetry/metadata.ts'
import { makeFolder } from '#shared/node/files.ts'
import { readKit } from '#shared/node/kit-read.ts'
import type { Service } from '#shared/node/service.ts'
import type { UPLINK_VARIABLES } from '../env.ts'
import { openOutbox } from '../sinks/outbox.ts'
import { factOfPoint, type FieldCatalogue } from './field-catalogue.ts'
import { FORWARD_OFF, type ForwardState, forwardService } from './forward.ts'

export type Uplink = {
  sinks: Sink[]
  services: Service[]
  forwardState(): ForwardState
  putFindings(findings: Finding[]): Promise<void>
}

export type UplinkOptions = {
  settings: Settings<typeof UPLINK_VARIABLES>
  site_id: string
  edge_id: string
  catalogue: FieldCatalogue
  model: () => EdgeModel
  clock: Clock
  log: Logger
}

const OFF: Uplink = { sinks: [], services: [], forwardState: () => FORWARD_OFF, putFindings: async () => {} }
const MB = 2 ** 20

/** @throws Error when the kit cannot be used or is another edge's, or when the store cannot be written */
export async function openUplink({ settings, site_id, edge_id, catalogue, model, clock, log }: UplinkOptions): Promise<Uplink> {
  if (!settings.SERVICE_MQTT_ENABLED) return OFF
  const kit = await readKit(settings.SERVICE_EDGE_KIT_DIR, Date.now())
  if (kit.edge.site_id !== site_id || kit.edge.edge_id !== edge_id) {
    const { edge } = kit
    throw new Error(
      `the kit in ${settings.SERVICE_EDGE_KIT_DIR} is of ${edge.site_id}/${edge.edge_id}, this is ${site_id}/${edge_id}`,
    )
  }
  const { SERVICE_MQTT_HOST: broker_host, SERVICE_MQTT_PORT: broker_port } = settings
  if (broker_host !== undefined) Object.assign(kit.edge, { broker_host, broker_port })
  const dir = join(settings.SERVICE_EDGE_STORE_DIR, 'outbox')
  await makeFolder(dir, 0o700)
  const protocolOf = factOfPoint(catalogue, (_point, { protocol }) => protocol)
  const outbox = await openOutbox({
    dir,
    maxBytes: settings.SERVICE_OUTBOX_MAX_MB * MB,
    protocolOf: point_id => protocolOf(point_id)!,
    clock,
    log,
  })
  const forward = forwardService({ outbox, kit, model, clock, log })
  const keeper: Service = { name: 'outbox', start: async () => {}, stop: () => outbox.close() }
  return { sinks: [outbox], services: [keeper, forward], forwardState: forward.forwardState, putFindings: outbox.putFindings }
}

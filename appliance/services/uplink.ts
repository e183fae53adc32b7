/** Where readings go as the mains wire it: outbox, hub, the central on this box, history; or history alone. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Settings } from '#shared/core/env.ts'
import type { Clock, Results, Sink } from '#shared/core/ports.ts'
import type { StoringTrouble } from '#shared/core/storage-status.ts'
import { ballast, EDGE_STORE_BALLAST } from '#shared/node/ballast.ts'
import { type Kit, readKit } from '#shared/node/pki/kit-read.ts'
import { EDGE_STORE_ENTRIES, keepPrivate } from '#shared/node/private-files.ts'
import type { Service } from '#shared/node/service.ts'
import type { UPLINK_VARIABLES } from '../env.ts'
import { replayIntoHistory } from '../sinks/outbox-to-history.ts'
import type { LookUpFindings } from '../core/outbox/outbox-messages.ts'
import { type Destination, openOutbox, type Outbox } from '../sinks/outbox.ts'
import type { EdgeSelf } from './edge-self.ts'
import { factOfPoint, type FieldCatalogue } from './field-catalogue.ts'
import { forwardService } from './forward.ts'
import { FORWARD_OFF, type ForwardState } from './forward-state.ts'
import { localForwardService } from './local-forward.ts'

export type Uplink = {
  sinks: Sink[]
  /** In the order in which they start: polling comes after them. */
  services: Service[]
  /** Starts after polling: the other side then need not wait for the next status to hear that it goes on. */
  announcing: Service
  /** The way to the hub. */
  forwardState(): ForwardState
  /** The way to the central on this box. */
  localState(): ForwardState
  /** Why the history of this process does not follow what was read. */
  historyTrouble(): StoringTrouble | undefined
  putFindings: Outbox['putFindings']
  /** Undefined where nothing goes to a broker. */
  kit: Kit | undefined
}

export type UplinkOptions = {
  settings: Settings<typeof UPLINK_VARIABLES>
  /** The central on this box, where this process is not it. */
  central?: { url: string; token: string } | undefined
  /** The history of this process, where it keeps one. */
  history?: Sink
  self: Omit<EdgeSelf, 'boot_id'>
  /** How findings of this process stand now; where there are none it is left out. */
  lookUpFindings?: LookUpFindings
  /** Answers what the hub asks over the broker. */
  answer?: (payload: Uint8Array) => object | undefined
  catalogue: FieldCatalogue
  clock: Clock
  log: Logger
}

const MB = 2 ** 20

/** @throws Error when the kit cannot be used or is another edge's, or when the store cannot be written */
export async function openUplink(options: UplinkOptions): Promise<Uplink> {
  const { settings, central, history, clock, log } = options
  const self: EdgeSelf = { ...options.self, boot_id: randomUUID() }
  const kit = settings.SERVICE_MQTT_ENABLED ? await ownKit(settings, self) : undefined
  if (!kit && !central) return historyAlone(history)
  const outbox = await openOwnOutbox(options, [
    ...(kit ? ['hub' as const] : []),
    ...(central ? ['central' as const] : []),
    ...(history ? ['history' as const] : []),
  ])
  const parts = { outbox, self, clock, log }
  const forward = kit && forwardService({ ...parts, kit, answer: options.answer })
  const local = central && localForwardService({ ...parts, central })
  const keeping = history && replayIntoHistory(outbox, outbox.reader('history'), history, log, clock)
  const announce = () => {
    forward?.announce()
    local?.announce()
  }
  options.catalogue.onUsed(announce)
  const keeper: Service = { name: 'outbox', start: async () => {}, stop: () => outbox.close() }
  const reserve = ballast({ folder: settings.SERVICE_EDGE_STORE_DIR, bytes: EDGE_STORE_BALLAST, log })
  return {
    sinks: keeping?.sinks ?? [outbox],
    services: [reserve, keeper, ...(keeping ? [keeping.service] : []), ...(forward ? [forward] : []), ...(local ? [local] : [])],
    announcing: announcingBy(announce),
    forwardState: forward?.forwardState ?? (() => FORWARD_OFF),
    localState: local?.forwardState ?? (() => FORWARD_OFF),
    historyTrouble: () => keeping?.trouble(),
    putFindings: outbox.putFindings,
    kit,
  }
}

const announcingBy = (announce: () => void): Service => ({
  name: 'announce',
  start: async () => announce(),
  stop: async () => {},
})

function historyAlone(history: Sink | undefined): Uplink {
  const off = () => FORWARD_OFF
  return {
    sinks: history ? [history] : [],
    services: [],
    announcing: announcingBy(() => {}),
    forwardState: off,
    localState: off,
    historyTrouble: () => undefined,
    putFindings: async () => {},
    kit: undefined,
  }
}

async function ownKit(settings: UplinkOptions['settings'], { site_id, edge_id }: EdgeSelf): Promise<Kit> {
  const { SERVICE_EDGE_KIT_DIR: dir, SERVICE_MQTT_HOST: broker_host, SERVICE_MQTT_PORT: broker_port } = settings
  const kit = await readKit(dir, Date.now())
  const { edge } = kit
  if (edge.site_id !== site_id || edge.edge_id !== edge_id) {
    throw new Error(`the kit in ${dir} is of ${edge.site_id}/${edge.edge_id}, this is ${site_id}/${edge_id}`)
  }
  if (broker_host !== undefined) Object.assign(edge, { broker_host, broker_port })
  return kit
}

/** What a hub should know of these findings: those that there are, and which are none any more. */
export function lookUpFindings(results: Pick<Results, 'get'>, finding_ids: string[]): ReturnType<LookUpFindings> {
  const findings = finding_ids.flatMap(id => results.get(id) ?? [])
  const there = new Set(findings.map(({ finding_id }) => finding_id))
  return { findings, withdrawn: finding_ids.filter(id => !there.has(id)) }
}

async function openOwnOutbox(
  { settings, catalogue, lookUpFindings, clock, log }: UplinkOptions,
  to: Destination[],
): Promise<Outbox> {
  const dir = join(settings.SERVICE_EDGE_STORE_DIR, 'outbox')
  keepPrivate(settings.SERVICE_EDGE_STORE_DIR, EDGE_STORE_ENTRIES, log)
  const protocolOf = factOfPoint(catalogue, (_point, { protocol }) => protocol)
  return openOutbox({
    dir,
    maxBytes: settings.SERVICE_OUTBOX_MAX_MB * MB,
    to,
    protocolOf: point_id => protocolOf(point_id)!,
    lookUpFindings,
    clock,
    log,
  })
}

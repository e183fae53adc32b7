import { join } from 'node:path'
import type { Logger } from 'pino'
import type { StoragePlace } from '#shared/central/storage.ts'
import type { Settings } from '#shared/core/env.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import type { StoringTrouble } from '#shared/core/storage-status.ts'
import { ballast, EDGE_STORE_BALLAST } from '#shared/node/ballast.ts'
import { EDGE_STORE_ENTRIES, keepPrivate } from '#shared/node/private-files.ts'
import type { Service } from '#shared/node/service.ts'
import type { UPLINK_VARIABLES } from '../env.ts'
import type { LookUpFindings } from '../core/outbox/outbox-messages.ts'
import { replayIntoHistory } from '../sinks/outbox-to-history.ts'
import { openOutbox, type Outbox } from '../sinks/outbox.ts'
import { type Destination } from '../sinks/outbox-reader.ts'
import { factOfPoint, type FieldCatalogue } from './field-catalogue.ts'

type StoreSettings = Pick<Settings<typeof UPLINK_VARIABLES>, 'SERVICE_EDGE_STORE_DIR' | 'SERVICE_OUTBOX_MAX_MB'>
type PlaceSettings = StoreSettings & { SERVICE_UPDATE_DIR: string | undefined }
type ReadingStorageOptions = {
  settings: StoreSettings
  /** The destinations outside this process that the outbox serves. */
  destinations: Exclude<Destination, 'history'>[]
  /** The history of this process, where it has one. */
  history?: Sink | undefined
  /** The current findings of this process; undefined where it runs no rules. */
  lookUpFindings?: LookUpFindings | undefined
  catalogue: FieldCatalogue
  notBefore?: (() => number | undefined) | undefined
  clock: Clock
  log: Logger
}

export type ReadingStorage = {
  /** Each receives every reading. */
  sinks: Sink[]
  /** Undefined where there is no destination. */
  outbox: Outbox | undefined
  /** These start before polling. */
  services: Service[]
  /** Why the history of this process is behind the readings. */
  historyTrouble(): StoringTrouble | undefined
}

const MB = 2 ** 20

/** Files of the appliance beside its workspace, with what bounds them. */
export function storagePlaces(settings: PlaceSettings): StoragePlace[] {
  const { SERVICE_EDGE_STORE_DIR: store, SERVICE_OUTBOX_MAX_MB: maxMb, SERVICE_UPDATE_DIR: updates } = settings
  return [
    { name: 'outbox', paths: [join(store, 'outbox')], max_bytes: maxMb * MB },
    { name: 'priority_history', paths: [join(store, 'priority')], max_bytes: null },
    ...(updates === undefined ? [] : [{ name: 'updates' as const, paths: [updates], max_bytes: null }]),
  ]
}

/**
 * Opens the storage of readings: the outbox first, and history from there. Without a destination, history is written directly.
 *
 * @throws Error when the outbox cannot be written
 */
export async function openReadingStorage(options: ReadingStorageOptions): Promise<ReadingStorage> {
  const { settings, destinations, history, lookUpFindings, catalogue, notBefore, clock, log } = options
  if (destinations.length === 0) {
    return { sinks: history ? [history] : [], outbox: undefined, services: [], historyTrouble: () => undefined }
  }
  const { SERVICE_EDGE_STORE_DIR: store, SERVICE_OUTBOX_MAX_MB: maxMb } = settings
  keepPrivate(store, EDGE_STORE_ENTRIES, log)
  const protocolOf = factOfPoint(catalogue, (_point, { protocol }) => protocol)
  const outbox = await openOutbox({
    dir: join(store, 'outbox'),
    maxBytes: maxMb * MB,
    to: [...destinations, ...(history ? ['history' as const] : [])],
    protocolOf: point_id => protocolOf(point_id)!,
    lookUpFindings,
    notBefore,
    clock,
    log,
  })
  const toHistory = history && replayIntoHistory(outbox, outbox.reader('history'), history, log, clock)
  const closing: Service = { name: 'outbox', start: async () => undefined, stop: () => outbox.close() }
  const reserve = ballast({ folder: store, bytes: EDGE_STORE_BALLAST, log })
  return {
    sinks: toHistory?.sinks ?? [outbox],
    outbox,
    services: [reserve, closing, ...(toHistory ? [toHistory.service] : [])],
    historyTrouble: () => toHistory?.trouble(),
  }
}

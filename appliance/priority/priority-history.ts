/** The priority history of this edge as the mains wire it: the journal, and the visits that fill it. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Settings } from '#shared/core/env.ts'
import type { Clock, PriorityJournal } from '#shared/core/ports.ts'
import { visitedObjects } from '../core/priority/plan.ts'
import type { ScanDevice } from '../core/priority/visit.ts'
import type { Visit } from '#shared/core/priority/visit.ts'
import { NO_MEMORY, openPriorityScan, type PriorityScan, type ScanEvent } from '../flow/visit-schedule.ts'
import { makeFolder } from '#shared/node/files.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import { EDGE_STORE_ENTRIES, keepPrivate } from '#shared/node/private-files.ts'
import type { Service } from '#shared/node/service.ts'
import type { BacnetProtocol } from '../drivers/bacnet/protocol.ts'
import type { PRIORITY_VARIABLES, UPLINK_VARIABLES } from '../env.ts'
import type { FieldCatalogue } from '../services/field-catalogue.ts'
import { instanceConflicts } from '../store/catalogue-conflicts.ts'
import type { Catalogue } from '../store/catalogue-schema.ts'
import type { PriorityHistory } from './history.ts'
import { openPriorityJournal } from './priority-journal.ts'
import { priorityReader } from './priority-reader.ts'
import { scanState } from './schedule-file.ts'

export type PriorityOptions = {
  settings: Settings<typeof PRIORITY_VARIABLES & Pick<typeof UPLINK_VARIABLES, 'SERVICE_EDGE_STORE_DIR'>>
  catalogue: Pick<FieldCatalogue, 'current'>
  bacnet: Pick<BacnetProtocol, 'borrow'>
  clock: Clock
  log: Logger
}

/**
 * Opens what there is. Where scanning is off, nothing is made on disk, and a history from before can be read.
 *
 * Never rejects: a journal that cannot be used says so in its state, nothing is visited then, and all else goes on.
 */
export async function openPriorityHistory(options: PriorityOptions): Promise<PriorityHistory> {
  const { settings, catalogue, bacnet, clock, log } = options
  const { SERVICE_PRIORITY_SCAN_ENABLED: enabled, SERVICE_EDGE_STORE_DIR: store } = settings
  const dir = join(store, 'priority')
  // What it fails of, the journal meets too, and says.
  keepPrivate(store, EDGE_STORE_ENTRIES, log)
  if (enabled) await makeFolder(dir, 0o700).catch(() => undefined)
  const journal = enabled || existsSync(dir) ? await openJournal(options, dir) : NO_JOURNAL
  const state = scanState(join(store, 'priority-scan.json'), log)
  const stopped = new AbortController()
  const scan = openPriorityScan({
    enabled,
    interval_secs: settings.SERVICE_PRIORITY_SCAN_INTERVAL_SECS,
    max_points_per_device: settings.SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE,
    reader: priorityReader({
      bacnet,
      entryOf: device_id => catalogue.current().devices.find(entry => entry.enabled && entry.device_id === device_id),
      now: clock.now,
    }),
    journal,
    devices: scanDevices(catalogue.current),
    memory: enabled ? await state.load() : NO_MEMORY,
    save: state.save,
    clock,
    newId: randomUUID,
    notify: reporter(log),
    signal: stopped.signal,
  })
  return { journal, scanner: scan, service: serviceOf(scan, journal, enabled, stopped) }
}

const openJournal = ({ settings, catalogue, log }: PriorityOptions, dir: string) =>
  openPriorityJournal({
    dir,
    maxRecords: settings.SERVICE_PRIORITY_HISTORY_MAX_RECORDS,
    ownerOf: device_instance => onlyDeviceOf(catalogue.current(), device_instance),
    log,
  })

/** @returns the one BACnet device of the list with this instance, also while it is switched off */
function onlyDeviceOf({ devices }: Catalogue, device_instance: number): string | undefined {
  const [only, ...others] = devices.filter(({ bacnet }) => bacnet?.device_instance === device_instance)
  return others.length > 0 ? undefined : only?.device_id
}

type ClosableJournal = PriorityJournal & { close(): Promise<void> }

/** There never was a history, and none is begun. */
const NO_JOURNAL: ClosableJournal = {
  append: async () => {
    throw new Error('priority history is switched off')
  },
  page: () => ({ records: [], more: false }),
  latest: () => new Map(),
  state: () => ({ journal: 'ok', first: 1, last: 0 }),
  close: async () => undefined,
}

function serviceOf(scan: PriorityScan, journal: ClosableJournal, enabled: boolean, stopped: AbortController): Service {
  let running: Promise<void> | undefined
  return {
    name: 'priority-scan',
    async start() {
      // Nobody handles its failure: it would be an error of the program, which ends the process.
      if (enabled) running = scan.run()
    },
    async stop() {
      stopped.abort()
      await running
      await scan.settled()
      await journal.close()
    },
  }
}

/** The list is large and seldom changes. */
function scanDevices(current: () => Catalogue): () => ScanDevice[] {
  let of: Catalogue | undefined
  let devices: ScanDevice[] = []
  return () => {
    const catalogue = current()
    if (catalogue !== of) {
      of = catalogue
      const conflicts = instanceConflicts(catalogue)
      devices = catalogue.devices.flatMap(({ device_id, enabled, protocol, bacnet, points }) => {
        if (!enabled || protocol !== 'bacnet' || !bacnet || conflicts.get(device_id)?.isRead === false) return []
        const { device_instance } = bacnet
        const objects = visitedObjects({ device_id, device_instance }, points)
        return objects.length ? [{ device_id, device_instance, objects }] : []
      })
    }
    return devices
  }
}

/** A device that is not read is one line when it begins, one when the reason changes, and one when it is over. */
function reporter(log: Logger): (event: ScanEvent) => void {
  const reasons = new Map<string, string>()
  const saving = failureLog(
    log,
    'where the visits to priority arrays stand is not kept; they go on',
    'where the visits to priority arrays stand is kept again',
  )
  const over = ({ visit_id, device_id = '', device_instance, source, state, points_read, points_failed, error }: Visit) => {
    const fields = { visit_id, device_id, source, state, points_read, points_failed }
    const device = `${device_id} (device ${device_instance})`
    const before = reasons.get(device_id)
    if (error === null) {
      reasons.delete(device_id)
      return log[before === undefined ? 'debug' : 'info'](fields, `priority arrays of ${device} were read`)
    }
    reasons.set(device_id, error)
    const text = `priority arrays of ${device} were not all read: ${error}`
    return log[before === error ? 'debug' : 'warn'](fields, text)
  }
  return event => {
    switch (event.kind) {
      case 'visit_over':
        return over(event.visit)
      case 'not_commandable': {
        const objects = event.objects.map(({ target }) => `${target.object_type},${target.object_instance}`)
        return log.info({ device_id: event.device_id, objects }, `${objects.length} points have no priority array`)
      }
      case 'replaced': {
        const { device_id, occupant } = event
        return log.warn(
          { device_id, ...occupant.make },
          `device ${device_id} was replaced by one of another make, and is visited`,
        )
      }
      case 'not_saved':
        return saving.failed(event.error)
      case 'saved':
        return saving.worked()
    }
  }
}

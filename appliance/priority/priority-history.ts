/** Wires the priority history of this edge: the journal, and the visits that fill it. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Settings } from '#shared/core/env.ts'
import type { Clock, PriorityJournal } from '#shared/core/ports.ts'
import type { VisitSchedule } from '#shared/core/priority/visit.ts'
import { makeFolder } from '#shared/node/files.ts'
import { EDGE_STORE_ENTRIES, keepPrivate } from '#shared/node/private-files.ts'
import type { Service } from '#shared/node/service.ts'
import { type PriorityDevice, visitedObjects } from '../core/priority/visit-objects.ts'
import { EMPTY_MEMORY } from '../core/priority/visit-schedule.ts'
import type { BacnetProtocol } from '../drivers/bacnet/protocol.ts'
import type { PRIORITY_VARIABLES, UPLINK_VARIABLES } from '../env.ts'
import { VisitRunner } from '../flow/run-visits.ts'
import type { FieldCatalogue } from '../services/field-catalogue.ts'
import { findDeviceConflicts } from '../drivers/list.ts'
import type { DeviceCatalogue } from '../store/catalogue-schema.ts'
import { openPriorityJournal } from './priority-journal.ts'
import { priorityReader } from './priority-reader.ts'
import { scheduleFile } from './schedule-file.ts'
import { visitLog } from './visit-log.ts'

/** The priority history of an edge. */
export type PriorityHistory = {
  journal: PriorityJournal
  schedule: VisitSchedule
  /** Makes the visits from start to stop. Stopping it closes the journal. */
  service: Service
}

export type PriorityOptions = {
  settings: Settings<typeof PRIORITY_VARIABLES & Pick<typeof UPLINK_VARIABLES, 'SERVICE_EDGE_STORE_DIR'>>
  catalogue: Pick<FieldCatalogue, 'current'>
  bacnet: Pick<BacnetProtocol, 'borrow'>
  clock: Clock
  log: Logger
}

/**
 * Opens the journal and the schedule. While visits are switched off, no file is created, and an existing journal can be read.
 *
 * Never rejects: when the journal cannot be used, its state gives the reason, no device is visited, and everything else runs.
 */
export async function openPriorityHistory(options: PriorityOptions): Promise<PriorityHistory> {
  const { settings, catalogue, bacnet, clock, log } = options
  const { SERVICE_PRIORITY_SCAN_ENABLED: enabled, SERVICE_EDGE_STORE_DIR: store } = settings
  const dir = join(store, 'priority')
  // A failure here makes the journal fail as well, and the journal reports it.
  keepPrivate(store, EDGE_STORE_ENTRIES, log)
  if (enabled) await makeFolder(dir, 0o700).catch(() => undefined)
  const journal = enabled || existsSync(dir) ? await openJournal(options, dir) : NO_JOURNAL
  const file = scheduleFile(join(store, 'priority-scan.json'), log)
  const stopped = new AbortController()
  const visits = new VisitRunner({
    enabled,
    interval_secs: settings.SERVICE_PRIORITY_SCAN_INTERVAL_SECS,
    max_points_per_device: settings.SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE,
    reader: priorityReader({
      bacnet,
      entryOf: device_id => catalogue.current().devices.find(entry => entry.enabled && entry.device_id === device_id),
      now: clock.now,
    }),
    journal,
    devices: visitedDevices(catalogue.current),
    memory: enabled ? await file.load() : EMPTY_MEMORY,
    save: file.save,
    clock,
    newId: randomUUID,
    notify: visitLog(log),
    signal: stopped.signal,
  })
  return { journal, schedule: visits, service: visitService(visits, journal, enabled, stopped) }
}

const openJournal = ({ settings, catalogue, log }: PriorityOptions, dir: string) =>
  openPriorityJournal({
    dir,
    maxRecords: settings.SERVICE_PRIORITY_HISTORY_MAX_RECORDS,
    ownerOf: device_instance => onlyDeviceOf(catalogue.current(), device_instance),
    log,
  })

/** @returns the only BACnet device of the catalogue with this instance, enabled or not; undefined for none or several */
function onlyDeviceOf({ devices }: DeviceCatalogue, device_instance: number): string | undefined {
  const [only, ...others] = devices.filter(({ bacnet }) => bacnet?.device_instance === device_instance)
  return others.length > 0 ? undefined : only?.device_id
}

type ClosableJournal = PriorityJournal & { close(): Promise<void> }

/** Used where visits are switched off and no journal exists. */
const NO_JOURNAL: ClosableJournal = {
  append: async () => {
    throw new Error('priority history is switched off')
  },
  page: () => ({ records: [], more: false }),
  latest: () => new Map(),
  state: () => ({ journal: 'ok', first: 1, last: 0 }),
  close: async () => undefined,
}

function visitService(visits: VisitRunner, journal: ClosableJournal, enabled: boolean, stopped: AbortController): Service {
  let running: Promise<void> | undefined
  return {
    name: 'priority-scan',
    async start() {
      // The promise is not caught: only an internal error rejects it, and that ends the process.
      if (enabled) running = visits.run()
    },
    async stop() {
      stopped.abort()
      await running
      await visits.settled()
      await journal.close()
    },
  }
}

/** Selects the devices to visit. The result is cached until the catalogue changes, because the catalogue is large. */
function visitedDevices(current: () => DeviceCatalogue): () => PriorityDevice[] {
  let cached: DeviceCatalogue | undefined
  let devices: PriorityDevice[] = []
  return () => {
    const catalogue = current()
    if (catalogue !== cached) {
      cached = catalogue
      const conflicts = findDeviceConflicts(catalogue)
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

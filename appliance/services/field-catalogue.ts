/** The field catalogue of a running process: changed through the API or by a script on disk, and applied without a restart. */
import type { Logger } from 'pino'
import { errorText } from '#shared/core/error-text.ts'
import { Problem } from '#shared/core/problem.ts'
import { SECOND } from '#shared/core/time.ts'
import type { Service } from '#shared/node/service.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { DeviceCatalogue, DeviceEntry, PointEntry } from '../store/catalogue-schema.ts'
import { type FileVersion, NO_FILE } from '../store/json-file.ts'
import type { SettingsFile } from '../store/settings-file.ts'

/** Applies another catalogue to a part of the process. When it throws, that part is as it was. */
type CatalogueListener = (catalogue: DeviceCatalogue) => void | Promise<void>

/** Returns the changed catalogue, or undefined to leave it. No other change runs until its promise is settled. */
export type CatalogueEdit = (current: DeviceCatalogue) => DeviceCatalogue | undefined | Promise<DeviceCatalogue | undefined>

export type FieldCatalogue = {
  /** The catalogue in use. It must not be changed in place. */
  current(): DeviceCatalogue
  /**
   * Replaces the catalogue by the result of `edit`. Changes run one after the other. When this one resolves, the catalogue is
   * checked as a whole, durable on disk, and in use. When it rejects, the previous catalogue stays in use.
   *
   * @throws ConfigError that names every place where the new catalogue is wrong
   * @throws Problem conflict when another process has changed the file and its version cannot be used; a file that was removed
   *   is written again
   */
  change(edit: CatalogueEdit): Promise<DeviceCatalogue>
  /** @throws ConfigError that names every place where such a catalogue would be wrong */
  check(next: DeviceCatalogue): void
  /** Listeners are called in the order of their registration, each after the one before has finished. */
  onChange(listener: CatalogueListener): void
  /** Listeners are called after each change, when all parts of the process use the new catalogue. */
  onUsed(listener: () => void): void
  /** Loads a version that another process has written, once it is the same in two calls in a row. */
  checkFile(): Promise<void>
  /** Why the file on disk is not the catalogue in use; undefined when it is. */
  refusal(): CatalogueRefusal | undefined
}

/** `isGone`: the file was removed. The next change writes it again; a start before that begins with an empty catalogue. */
export type CatalogueRefusal = { reason: string; isGone: boolean }

/**
 * The function is long because each change compares the catalogue in use with the file and with what was refused.
 *
 * @param settings the checked file, as `openCatalogue` opens it
 */
export function fieldCatalogue(settings: SettingsFile<DeviceCatalogue>, log: Logger): FieldCatalogue {
  const changeListeners: CatalogueListener[] = []
  const usedListeners: (() => void)[] = []
  const inTurn = createSerialQueue()
  let current = settings.current()
  let refused: CatalogueRefusal | undefined
  /** A foreign version seen by the last check; its writer may not have finished. */
  let pending: FileVersion | undefined

  /** Applies `next` to all parts of the process, or to none. */
  const use = async (next: DeviceCatalogue) => {
    try {
      for (const listener of changeListeners) await listener(next)
    } catch (error) {
      for (const listener of changeListeners) await listener(current)
      throw error
    }
    current = next
    for (const listener of usedListeners) listener()
  }

  const loadForeign = async (version: FileVersion) => {
    pending = undefined
    try {
      await use(await settings.reread())
      refused = undefined
      log.info(`${settings.path} was changed and is in use`)
    } catch (error) {
      const reason = errorText(error)
      refused = { reason, isGone: version === NO_FILE }
      log.error(`change of ${settings.path} rejected: keeping the previous version. ${reason}`)
    }
  }

  const change = async (edit: CatalogueEdit) => {
    const foreign = await settings.foreignVersion()
    if (foreign !== undefined) await loadForeign(foreign)
    if (refused && !refused.isGone) {
      throw new Problem('conflict', `The file was changed on disk and cannot be used; correct it there first. ${refused.reason}`)
    }
    const before = current
    const next = await edit(before)
    if (!next) return current
    await settings.replace(next)
    refused = undefined
    try {
      await use(settings.current())
    } catch (error) {
      await settings.replace(before)
      throw error
    }
    return current
  }

  return {
    current: () => current,
    check: settings.check,
    change: edit => inTurn(() => change(edit)),
    onChange: listener => void changeListeners.push(listener),
    onUsed: listener => void usedListeners.push(listener),
    checkFile: () =>
      inTurn(async () => {
        const foreign = await settings.foreignVersion()
        if (foreign !== undefined && foreign === pending) await loadForeign(foreign)
        else pending = foreign
      }),
    refusal: () => refused,
  }
}

/**
 * Indexes a property of every point. Points that leave the catalogue stay known: their last readings may still be queued.
 *
 * @returns undefined for a point that was never listed
 */
export function factOfPoint<T>(
  catalogue: FieldCatalogue,
  factOf: (point: PointEntry, device: DeviceEntry) => T,
): (point_id: string) => T | undefined {
  const facts = new Map<string, T>()
  const learn = ({ devices }: DeviceCatalogue) => {
    for (const device of devices) for (const point of device.points) facts.set(point.point_id, factOf(point, device))
  }
  learn(catalogue.current())
  catalogue.onChange(learn)
  return point_id => facts.get(point_id)
}

/** How often the file is checked. A change by a script is in use after two checks. */
const CHECK_MS = 3 * SECOND

/**
 * Detects that a provisioning script has written the file. It polls the file, because a watch of the file system does not
 * work in every container and network folder, and a signal needs a process id.
 */
export function catalogueWatch(catalogue: FieldCatalogue, log: Logger): Service {
  let timer: NodeJS.Timeout | undefined
  const check = () =>
    void catalogue
      .checkFile()
      .catch((error: Error) => log.error({ err: error }, 'file of field devices not readable: keeping the catalogue in use'))
      .finally(() => timer?.refresh())
  return {
    name: 'catalogue-watch',
    async start() {
      timer = setTimeout(check, CHECK_MS)
    },
    async stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

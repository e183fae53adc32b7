/** The field catalogue while the process runs: changed by an operator here, or by a script on disk, and followed by all. */
import type { Logger } from 'pino'
import { Problem } from '#shared/core/problem.ts'
import { SECOND } from '#shared/core/time.ts'
import type { Service } from '#shared/node/service.ts'
import type { Catalogue, DeviceEntry, PointEntry } from '../store/catalogue-schema.ts'
import { NONE, type Stamp } from '../store/durable-json.ts'
import type { Settings } from '../store/settings.ts'

/** Makes what it owns go on with another list. One that throws leaves what it owns as it was. */
export type CatalogueListener = (catalogue: Catalogue) => void | Promise<void>

/** What becomes of the list; undefined leaves it. Nobody else changes it before a promise is kept. */
export type CatalogueEdit = (held: Catalogue) => Catalogue | undefined | Promise<Catalogue | undefined>

export type FieldCatalogue = {
  /** The list that is in use. Not to be changed in place. */
  current(): Catalogue
  /**
   * Replaces the list by what `edit` makes of it. Changes happen one after the other; when this one resolves the list is
   * checked as a whole, safe on disk, and in use. When it rejects, the old list is.
   *
   * @throws ConfigError that names every place where the new list is wrong
   * @throws Problem conflict when the file on disk was changed by somebody else and cannot be used; one that was removed is
   * written anew
   */
  change(edit: CatalogueEdit): Promise<Catalogue>
  /** @throws ConfigError that names every place where such a list would be wrong */
  check(next: Catalogue): void
  /** Listeners are called in the order in which they came, each when the one before is done. */
  onChange(listener: CatalogueListener): void
  /** Calls back after each change, when everybody goes on with the new list. */
  onUsed(listener: () => void): void
  /** Takes in what was written to the file by somebody else, once it has stayed the same from one look to the next. */
  look(): Promise<void>
  /** Why the file as it stands on disk is not the list in use; undefined when it is. */
  refusal(): CatalogueRefusal | undefined
}

/** `isGone`: there is no file any more; the next change writes it anew, while a start would find an empty list. */
export type CatalogueRefusal = { reason: string; isGone: boolean }

/** @param settings the checked file, as `openCatalogue` opens it */
export function fieldCatalogue(settings: Settings<Catalogue>, log: Logger): FieldCatalogue {
  const listeners: CatalogueListener[] = []
  const told: (() => void)[] = []
  let current = settings.current()
  let refused: CatalogueRefusal | undefined
  /** A foreign version that was seen at the last look; it may still be being written. */
  let pending: Stamp | undefined
  let last: Promise<unknown> = Promise.resolve()

  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const turn = last.then(task)
    last = turn.catch(() => undefined)
    return turn
  }

  /** Everybody goes on with `next`, or nobody does. */
  const use = async (next: Catalogue) => {
    try {
      for (const listener of listeners) await listener(next)
    } catch (error) {
      for (const listener of listeners) await listener(current)
      throw error
    }
    current = next
    for (const tell of told) tell()
  }

  const takeForeign = async (stamp: Stamp) => {
    pending = undefined
    try {
      await use(await settings.reread())
      refused = undefined
      log.info(`${settings.path} was changed and is in use`)
    } catch (error) {
      const reason = (error as Error).message
      refused = { reason, isGone: stamp === NONE }
      log.error(`${settings.path} was changed and is not used; the list from before goes on. ${reason}`)
    }
  }

  const change = async (edit: CatalogueEdit) => {
    const foreign = await settings.foreign()
    if (foreign !== undefined) await takeForeign(foreign)
    if (refused && !refused.isGone) {
      throw new Problem('conflict', `The file was changed on disk and cannot be used; mend it there first. ${refused.reason}`)
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
    onChange: listener => void listeners.push(listener),
    onUsed: listener => void told.push(listener),
    look: () =>
      inTurn(async () => {
        const foreign = await settings.foreign()
        if (foreign !== undefined && foreign === pending) await takeForeign(foreign)
        else pending = foreign
      }),
    refusal: () => refused,
  }
}

/**
 * Remembers something of every point. Points that leave the list stay known: their last readings may still be on the way.
 *
 * @returns undefined for a point that was never listed
 */
export function factOfPoint<T>(
  catalogue: FieldCatalogue,
  factOf: (point: PointEntry, device: DeviceEntry) => T,
): (point_id: string) => T | undefined {
  const facts = new Map<string, T>()
  const learn = ({ devices }: Catalogue) => {
    for (const device of devices) for (const point of device.points) facts.set(point.point_id, factOf(point, device))
  }
  learn(catalogue.current())
  catalogue.onChange(learn)
  return point_id => facts.get(point_id)
}

/** How often the file is looked at. A script's change is in use after two looks. */
const LOOK_MS = 3 * SECOND

/**
 * Notices that a provisioning script has written the file. It looks instead of being told: a watch of the file system does
 * not reach into every container and network folder, and a signal needs a process id.
 */
export function catalogueWatch(catalogue: FieldCatalogue, log: Logger): Service {
  let timer: NodeJS.Timeout | undefined
  const look = () =>
    void catalogue
      .look()
      .catch((error: Error) => log.error({ err: error }, 'the list of field devices cannot be looked at'))
      .finally(() => timer?.refresh())
  return {
    name: 'catalogue-watch',
    async start() {
      timer = setTimeout(look, LOOK_MS)
    },
    async stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

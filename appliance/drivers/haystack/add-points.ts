/** Adds the points that a Haystack server has to the catalogue, and their equipment to the site. It only reads the server. */
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { FieldCatalogue } from '../../services/field-catalogue.ts'
import { changeCatalogue } from '../../services/catalogue-edit.ts'
import type { DeviceCatalogue, DeviceEntry } from '../../store/catalogue-schema.ts'
import type { SettingsFile } from '../../store/settings-file.ts'
import type { SiteSettings } from '../../store/site.ts'
import { type HaystackAccess, serverOf } from './access.ts'
import { HaystackClient } from './client.ts'
import { HaystackFailure } from './core/failure.ts'
import { listPoints, type PointList } from './core/point-list.ts'
import { HaystackSession } from './session.ts'

/** A person waits for the list, which a server may gather for some seconds. */
const TIMEOUT_MS = 60_000
/** As many as a device and a site may have. */
const [POINTS_MAX, EQUIPMENT_MAX] = [10_000, 5000]
const POLL_SECS = 60
/** Examples of each kind in the terminal. */
const LINES_MAX = 20
const ANY_POINT = 'point'
const NO_DEVICE =
  'config/field-devices.json has no device with protocol haystack; add one with its login and "points": [], then start again'

type Config = { siteFile: SettingsFile<SiteSettings>; catalogue: FieldCatalogue }

/**
 * @param filter of the points; all of the server without it
 * @param reopen opens both files again, because the list of points may name new equipment of the site only
 * @returns lines for the terminal, and the exit code
 */
export async function pointsInTerminal(
  { siteFile, catalogue }: Config,
  access: HaystackAccess,
  { filter = ANY_POINT, reopen }: { filter?: string | undefined; reopen?: (() => Promise<FieldCatalogue>) | undefined },
): Promise<{ lines: string[]; exit: number }> {
  const held = catalogue.current()
  const entry = held.devices.find(({ protocol }) => protocol === 'haystack')
  if (!entry) return { lines: [NO_DEVICE], exit: 1 }
  const site = siteFile.current()
  let list: PointList
  try {
    list = await readList(entry, access, { filter, held, site })
  } catch (error) {
    if (!(error instanceof HaystackFailure)) throw error
    const advice = error.advice === undefined ? [] : [`→ ${error.advice}`]
    return { lines: [`${access.endpoint.href}: ${error.step}: ${error.message}`, ...advice], exit: 1 }
  }
  const told = linesOf(list, entry, filter)
  if (!reopen) return { lines: [...told, 'Nothing is changed; --add-points adds them'], exit: 0 }
  if (list.equipment.length > 0) await siteFile.replace({ ...site, equipment: [...site.equipment, ...list.equipment] })
  const opened = await reopen()
  await changeCatalogue(opened, now => withPoints(now, entry.device_id, list))
  return { lines: [...told, 'They are added; a process that is running reads them when it is started anew'], exit: 0 }
}

async function readList(
  entry: DeviceEntry,
  access: HaystackAccess,
  { filter, held, site }: { filter: string; held: DeviceCatalogue; site: SiteSettings },
): Promise<PointList> {
  const session = new HaystackSession(serverOf(entry, access), createSerialQueue(), Date.now)
  const client = new HaystackClient(session)
  const options = { timeoutMs: TIMEOUT_MS, retries: 0, signal: new AbortController().signal }
  try {
    await client.about(options)
    const { rows } = await client.read(filter, POINTS_MAX + 1, options)
    if (rows.length > POINTS_MAX) {
      const advice = 'state a part of them, for example --filter=\'point and siteRef->dis=="Office"\''
      throw new HaystackFailure(`more than ${POINTS_MAX} records match ${filter}`, { step: 'op', advice })
    }
    const { rows: equips } = await client.read('equip', EQUIPMENT_MAX, options)
    return listPoints(rows, equips, {
      device_id: entry.device_id,
      addresses: new Set(entry.points.map(({ address }) => address)),
      points: held.devices.flatMap(({ points }) => points),
      equipment: site.equipment,
    })
  } finally {
    await session.close()
  }
}

const withPoints = ({ devices }: DeviceCatalogue, device_id: string, { points }: PointList): DeviceCatalogue => ({
  devices: devices.map(one =>
    one.device_id === device_id
      ? { ...one, points: [...one.points, ...points.map(point => ({ ...point, poll_secs: POLL_SECS }))] }
      : one,
  ),
})

function linesOf({ equipment, points, known, leftOut }: PointList, { device_id }: DeviceEntry, filter: string): string[] {
  const by = Map.groupBy(points, ({ equipment_id = 'no equipment of a known type' }) => equipment_id)
  const withRole = points.filter(({ role }) => role !== undefined).length
  return [
    `${device_id}: ${points.length} new points of ${filter}, ${withRole} with a role; ${equipment.length} new equipment; ${known} points are in the list already`,
    ...shortened([...by].map(([id, own]) => `  ${id}: ${own.map(({ role, name }) => role ?? name).join(', ')}`)),
    ...(leftOut.length > 0 ? [`${leftOut.length} left out:`] : []),
    ...shortened(leftOut.map(({ name, reason }) => `  ${name}: ${reason}`)),
  ]
}

const shortened = (lines: string[]): string[] =>
  lines.length <= LINES_MAX ? lines : [...lines.slice(0, LINES_MAX), `  … and ${lines.length - LINES_MAX} more`]

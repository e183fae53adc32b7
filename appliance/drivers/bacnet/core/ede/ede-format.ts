/** EDE sets as a format for the import and export of points. */
import type { ImportedDevice, PointSetFormat } from '../../../../core/catalogue/driver-definition.ts'
import type { PointTable } from '../../../../core/catalogue/table.ts'
import { isId } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import { ADDRESS_FORM, formatAddress, parseAddress } from '../address.ts'
import { BACNET_PORT, type DeviceAddress } from '../discovery/discovery.ts'
import { deviceIds, type DeviceDescription, propose, type Proposal } from '../discovery/propose.ts'
import { type Ede, type EdeDevice, type EdeFiles, readEde } from './read-ede.ts'
import { AUTHOR, writeEde } from './write-ede.ts'

/** Smallest APDU that a device may have; used for devices that have not been asked yet. */
const MAX_APDU = 480

export const edeFormat = {
  name: 'ede',
  title: 'EDE 2.2 or 2.3 (BACnet)',
  addressExample: ADDRESS_FORM,
  parseAddress,
  read: tables => readEde(sortEdeFiles(tables)),
  propose: proposeEde,
  write: writeEde,
} as const satisfies PointSetFormat<Ede, EdeEntry, DeviceAddress, Parameters<typeof writeEde>[0][number]>

/** The fields of a catalogue entry that the proposal uses. */
type EdeEntry = { device_id: string; bacnet?: { device_instance: number } }

/** @throws Problem invalid when a file of the set is missing or doubled */
function sortEdeFiles(tables: readonly PointTable[]): EdeFiles {
  const kinds: [keyof EdeFiles, RegExp][] = [
    ['stateTexts', /state[\s_-]*texts?/i],
    ['units', /units?(?=[^a-z]|$)|unit[\s_-]*texts?/i],
    ['objectTypes', /obj(ect)?[\s_-]*types?/i],
  ]
  const kindOf = ({ file }: PointTable) => kinds.find(([, pattern]) => pattern.test(file))?.[0] ?? 'main'
  const files = new Map<keyof EdeFiles, PointTable>()
  for (const table of tables) {
    const kind = kindOf(table)
    const other = files.get(kind)
    if (other) {
      throw new Problem('invalid', `${table.file} and ${other.file} are the same part of an EDE set; import one set at a time`)
    }
    files.set(kind, table)
  }
  const main = files.get('main')
  if (!main) throw new Problem('invalid', 'The table of the points is missing: choose the file whose name ends with _EDE.csv')
  return { ...Object.fromEntries(files), main }
}

/** Yields one device after the other. @param addresses by device instance; they take precedence over those in the file */
function* proposeEde(
  ede: Ede,
  devices: readonly EdeEntry[],
  { addresses, poll_secs }: { addresses: ReadonlyMap<number, DeviceAddress>; poll_secs: number },
): Generator<ImportedDevice> {
  const known = new Map(devices.flatMap(device => (device.bacnet ? [[device.bacnet.device_instance, device.device_id]] : [])))
  const described = ede.devices.map(device => ({ device, description: describe(device, addresses.get(device.device_instance)) }))
  const fresh = described.filter(({ device }) => !known.has(device.device_instance)).map(({ description }) => description)
  const taken = new Set(devices.map(({ device_id }) => device_id))
  const ids = new Map(deviceIds(fresh, fresh, taken).map(({ description, device_id }) => [description.key, device_id]))
  for (const { device, description } of described) {
    const knownId = known.get(device.device_instance)
    const proposal = propose(description, knownId ?? ids.get(description.key)!, poll_secs)
    const named = ede.author === AUTHOR ? withKeys(proposal, device, taken, knownId !== undefined) : proposal
    const where = description.host === '' ? null : formatAddress(description)
    yield { ...withFileSettings(named, device), known: knownId, where }
  }
}

function describe({ device_instance, name, address, objects }: EdeDevice, given: DeviceAddress | undefined): DeviceDescription {
  const where = given ?? parseAddress(address) ?? { host: '', port: BACNET_PORT }
  return { key: String(device_instance), device_instance, ...where, max_apdu: MAX_APDU, multiple: null, name, objects }
}

/**
 * Takes ids and `cov` from a file that Plenum exported: `keyname` holds the ids, and "supports COV" the points that report
 * changes. In other files that column states only what a device could do.
 */
function withKeys(proposal: Proposal, { keyname, objects }: EdeDevice, taken: Set<string>, isKnown: boolean): Proposal {
  const { device } = proposal
  const device_id = !isKnown && isId(keyname) && !taken.has(keyname) ? keyname : device.device_id
  taken.add(device_id)
  const points = device.points.map((point, i) => {
    const { keyname: key, cov } = objects[i]!
    return { ...point, ...(isId(key) && { point_id: key }), ...(cov && { cov }) }
  })
  return { ...proposal, device: { ...device, device_id, points } }
}

/** Takes the units that only the units file names, and the poll periods, from the file. */
function withFileSettings({ device, notes }: Proposal, { objects }: EdeDevice): Pick<ImportedDevice, 'entry' | 'notes'> {
  const { max_apdu: _, ...bacnet } = device.bacnet
  const points = device.points.map((point, i) => {
    const { unit, poll_secs } = objects[i]!
    return {
      ...point,
      ...(unit !== undefined && point.kind === 'number' && { unit }),
      ...(poll_secs !== undefined && { poll_secs }),
    }
  })
  const named = new Set(objects.flatMap(({ unit }, i) => (unit === undefined ? [] : [device.points[i]!.point_id])))
  return {
    entry: { ...device, bacnet, points },
    notes: notes.filter(note => !named.has(note.slice(0, note.indexOf(':')))),
  }
}

/** Adds discovered devices to the catalogue. Existing points are not changed. */
import type { DeviceChange } from '../core/discovery/changes.ts'
import { pointFilter } from '../core/discovery/point-filter.ts'
import { propose, proposeAll, type ProposedDevice, type Proposal } from '../core/discovery/propose.ts'
import type { DeviceResult } from '../core/discovery/discovery.ts'
import { formatTarget, parseTarget } from '#shared/core/bacnet/object.ts'
import type { DataError } from '#shared/core/problem.ts'
import type { DeviceCatalogue, DeviceEntry } from '../../../store/catalogue-schema.ts'

/** An entry as it will be in the catalogue, with the ids of its new points. */
export type Addition = {
  key: string
  change: DeviceChange['change']
  entry: DeviceEntry
  /** Ids of points that the catalogue does not have yet. */
  new_points: string[]
  guessed_roles: Record<string, string>
  notes: string[]
}

/** What somebody wants to add: keys of discovered devices, and of their points those that fit (`pointFilter`). */
export type AdditionChoice = { keys: readonly string[]; poll_secs: number; only: string }

/** @returns the additions, without new devices of which no point fits, and why others are impossible */
export function planAdditions(
  catalogue: DeviceCatalogue,
  found: readonly DeviceResult[],
  changes: readonly DeviceChange[],
  { keys, poll_secs, only }: AdditionChoice,
): { additions: Addition[]; errors: DataError[] } {
  const errors: DataError[] = []
  const chosen: { device: DeviceResult; change: DeviceChange }[] = []
  for (const [i, key] of keys.entries()) {
    const device = found.find(one => one.key === key)
    const change = changes.find(one => one.key === key)
    const rival = chosen.find(one => one.device !== device && change && isSameEntry(one.change, change))
    const refusal =
      device && change
        ? (refusalOf(device, change) ??
          (rival && `${rival.device.key} would use the entry ${change.device_id} too; choose one of them`))
        : `the last discovery found no device ${key}`
    if (refusal !== undefined) errors.push({ pointer: `/devices/${i}`, message: refusal })
    else if (device && change && !chosen.some(one => one.device === device)) chosen.push({ device, change })
  }
  const taken = new Set(catalogue.devices.map(({ device_id }) => device_id))
  const fresh = chosen.filter(({ change }) => change.device_id === null).map(({ device }) => device)
  const proposals = new Map(proposeAll(found, fresh, taken, poll_secs).map(proposal => [proposal.key, proposal]))
  const fits = pointFilter(only)
  const additions = chosen.flatMap(({ device, change }) => {
    const known = catalogue.devices.find(({ device_id }) => device_id === change.device_id)
    if (known) return mergeEntry(known, withPoints(propose(device, known.device_id, poll_secs), fits), change.change)
    const addition = additionOf(withPoints(proposals.get(device.key)!, fits), change.change)
    return addition.new_points.length > 0 ? addition : []
  })
  return { additions, errors }
}

const isSameEntry = (a: DeviceChange, b: DeviceChange): boolean => a.device_id !== null && a.device_id === b.device_id

function refusalOf(device: DeviceResult, { change, others }: DeviceChange): string | undefined {
  const what = `device ${device.device_instance}`
  if (change === 'id_conflict')
    return `${what} answers from ${others.length + 1} places; give all but one of them another instance first`
  if (device.outcome === 'waiting' || device.outcome === 'reading') return `${what} is still being read`
  if (device.objects.length === 0) return `${what} gave no points: ${device.reason ?? device.outcome}`
  return undefined
}

/** The proposal with those of its points that fit. */
function withPoints(proposal: Proposal, fits: (point: ProposedDevice['points'][number]) => boolean): Proposal {
  return { ...proposal, device: { ...proposal.device, points: proposal.device.points.filter(fits) } }
}

const additionOf = ({ key, device, guessed_roles, notes }: Proposal, change: DeviceChange['change']): Addition => ({
  key,
  change,
  entry: device,
  new_points: device.points.map(({ point_id }) => point_id),
  ...saidOf(device.points, guessed_roles, notes),
})

/** Of the guesses and notes those about these points. */
function saidOf(points: readonly { point_id: string }[], guessed_roles: Record<string, string>, notes: readonly string[]) {
  const ids = new Set(points.map(({ point_id }) => point_id))
  return {
    guessed_roles: Object.fromEntries(Object.entries(guessed_roles).filter(([id]) => ids.has(id))),
    notes: notes.filter(note => ids.has(note.split(': ')[0]!)),
  }
}

/** @returns the entry with its new address, and new objects appended to its points */
function mergeEntry(
  known: DeviceEntry,
  { key, device, guessed_roles, notes }: Proposal,
  change: DeviceChange['change'],
): Addition {
  const read = new Set(known.points.map(({ address }) => plainAddress(address)))
  const ids = new Set(known.points.map(({ point_id }) => point_id))
  const points = device.points
    .filter(({ address }) => !read.has(address))
    .map(point =>
      ids.has(point.point_id) ? { ...point, point_id: `${point.point_id}.${point.address.replace(',', '-')}` } : point,
    )
  return {
    key,
    change,
    entry: { ...known, bacnet: placeOf(known, device), points: [...known.points, ...points] },
    new_points: points.map(({ point_id }) => point_id),
    ...saidOf(points, guessed_roles, notes),
  }
}

/** @returns the section with the new address; other fields of the entry are kept */
function placeOf(known: DeviceEntry, { bacnet }: ProposedDevice): NonNullable<DeviceEntry['bacnet']> {
  const { network: _network, mac: _mac, ...kept } = known.bacnet ?? bacnet
  const { device_instance, host, port, network, mac } = bacnet
  return { ...kept, device_instance, host, port, ...(network !== undefined && mac !== undefined && { network, mac }) }
}

function plainAddress(address: string): string {
  const target = parseTarget(address)
  return typeof target === 'string' ? address : formatTarget(target)
}

/** @returns the catalogue with the additions; existing entries keep their position */
export function withAdditions({ devices }: DeviceCatalogue, additions: readonly Addition[]): DeviceCatalogue {
  const byId = new Map(additions.map(({ entry }) => [entry.device_id, entry]))
  const kept = devices.map(device => byId.get(device.device_id) ?? device)
  const known = new Set(devices.map(({ device_id }) => device_id))
  return { devices: [...kept, ...additions.map(({ entry }) => entry).filter(({ device_id }) => !known.has(device_id))] }
}

/** Imports points from files of other tools. Drivers own the formats: sets of many devices, and registries of one device. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Problem } from '#shared/core/problem.ts'
import type { DriverDefinition, PointSet, PointSetFormat, RegistryFormat } from '../core/catalogue/driver-definition.ts'
import type { PointTable } from '../core/catalogue/table.ts'
import { DRIVERS } from '../drivers/list.ts'
import { type ImportPlan, planPointSet, planRegistry } from '../store/catalogue-import.ts'
import type { DeviceCatalogue, DeviceEntry } from '../store/catalogue-schema.ts'
import { changeCatalogue } from './catalogue-edit.ts'
import type { FieldCatalogue } from './field-catalogue.ts'

export type RegistryDriver = DriverDefinition & { registry: RegistryFormat<unknown> }
/** Drivers whose points can be imported from a registry. */
export const REGISTRY_DRIVERS: readonly RegistryDriver[] = (DRIVERS as readonly DriverDefinition[]).filter(
  (driver): driver is RegistryDriver => driver.registry !== undefined,
)
type SetDriver = DriverDefinition & { pointSet: PointSetFormat }
/** Drivers whose points can be imported from, and exported to, a set of files. */
export const SET_DRIVERS: readonly SetDriver[] = (DRIVERS as readonly DriverDefinition[]).filter(
  (driver): driver is SetDriver => driver.pointSet !== undefined,
)
/** The formats of an import and their names on pages. */
export const IMPORT_FORMATS: ReadonlyMap<string, string> = new Map([
  ...SET_DRIVERS.map(({ pointSet }) => [pointSet.name, pointSet.title] as const),
  ...REGISTRY_DRIVERS.map(({ registry }) => [registry.name, registry.title] as const),
])

/** A decoded import, with the settings that its points need. */
export type ImportSource = {
  format: string
  /** Refused rows, and the parts of accepted rows that are ignored. */
  complaints: PointSet
  /** Form of the addresses that a user can add; undefined when the format needs none. */
  addressFormat: Pick<PointSetFormat, 'addressExample' | 'parseAddress'> | undefined
  /** @returns the catalogue with the points imported, and the changes */
  plan(catalogue: DeviceCatalogue, addresses: Addresses): Promise<ImportPlan>
}

/** Addresses that a user has added, by device instance. */
export type Addresses = ReadonlyMap<number, unknown>

/** @throws Problem invalid when a file of the set is missing or doubled */
export async function readPointSet(
  format: PointSetFormat,
  tables: readonly PointTable[],
  poll_secs: number,
): Promise<ImportSource> {
  const set = await runInSlices(format.read(tables))
  return {
    format: format.name,
    complaints: set,
    addressFormat: format,
    plan: (catalogue, addresses) => runInSlices(planPointSet(catalogue, format, set, { addresses, poll_secs })),
  }
}

/** @throws Problem invalid when there is not just one file */
export function readRegistryFile(
  { registry: format }: RegistryDriver,
  tables: readonly PointTable[],
  { device, poll_secs }: { device: DeviceEntry; poll_secs: number },
): ImportSource {
  const [table, ...more] = tables
  if (!table || more.length) throw new Problem('invalid', `A registry is one file, but ${tables.length} were sent`)
  const registry = format.read(table)
  return {
    format: format.name,
    complaints: { ...registry, others: {} },
    addressFormat: undefined,
    plan: async catalogue => planRegistry(catalogue, registry, device, poll_secs),
  }
}

/**
 * Imports a source. The plan is made from the catalogue at the time of the change, so concurrent changes are not lost.
 *
 * @throws Problem invalid or conflict
 */
export async function applyImport(catalogue: FieldCatalogue, source: ImportSource, addresses: Addresses) {
  const done: { plan?: ImportPlan } = {}
  await changeCatalogue(catalogue, async held => {
    const plan = await source.plan(held, addresses)
    done.plan = plan
    const adds = plan.devices.some(({ state, points }) => state === 'new' || (state === 'known' && points.length > 0))
    return adds ? plan.catalogue : undefined
  })
  return { plan: done.plan! }
}

/** Counts of an import plan. */
export function countImport({ devices }: ImportPlan) {
  const of = (state: string) => devices.filter(device => device.state === state)
  const added = devices.filter(({ state }) => state !== 'no_address')
  return {
    devices_new: of('new').length,
    devices_known: of('known').length,
    devices_without_address: of('no_address').length,
    points_added: added.reduce((sum, { points }) => sum + points.length, 0),
    points_known: devices.reduce((sum, { points_known }) => sum + points_known, 0),
  }
}

/** Runs work that yields now and then; between its parts polling and other work of the process continues. */
async function runInSlices<T>(work: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await nextTurn()
  }
}

/** Imports points from files of other tools: EDE sets and VOLTTRON registries. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Problem } from '#shared/core/problem.ts'
import { type Ede, type EdeFiles, readEde } from '../drivers/bacnet/core/ede/read-ede.ts'
import type { DriverDefinition, RegistryFormat } from '../core/catalogue/driver-definition.ts'
import type { Registry } from '../core/catalogue/registry.ts'
import type { Refusal, Table } from '../core/catalogue/table.ts'
import type { DeviceAddress } from '../drivers/bacnet/core/discovery/discovery.ts'
import { DRIVERS } from '../drivers/list.ts'
import { type ImportPlan, planEde, planRegistry } from '../store/catalogue-import.ts'
import type { Catalogue, DeviceEntry } from '../store/catalogue-schema.ts'
import { changeCatalogue } from './catalogue-edit.ts'
import type { FieldCatalogue } from './field-catalogue.ts'

export type RegistryDriver = DriverDefinition & { registry: RegistryFormat<unknown> }
/** Drivers whose points can be imported from a registry. */
export const REGISTRY_DRIVERS: readonly RegistryDriver[] = (DRIVERS as readonly DriverDefinition[]).filter(
  (driver): driver is RegistryDriver => driver.registry !== undefined,
)
/** The formats of an import and their names on pages. */
export const FORMATS: ReadonlyMap<string, string> = new Map([
  ['ede', 'EDE 2.2 or 2.3 (BACnet)'],
  ...REGISTRY_DRIVERS.map(({ registry }) => [registry.name, registry.title] as const),
])

/** A decoded file of points, and the settings that it needs before its points can be polled. */
export type ImportSource =
  | { format: 'ede'; ede: Ede; poll_secs: number }
  | { format: `volttron-${string}`; registry: Registry; device: DeviceEntry; poll_secs: number }

/** Addresses by device instance. */
export type Addresses = ReadonlyMap<number, DeviceAddress>

/** @throws Problem invalid when a file of the set is missing or doubled */
function sortEdeFiles(tables: readonly Table[]): EdeFiles {
  const kinds: [keyof EdeFiles, RegExp][] = [
    ['stateTexts', /state[\s_-]*texts?/i],
    ['units', /units?(?=[^a-z]|$)|unit[\s_-]*texts?/i],
    ['objectTypes', /obj(ect)?[\s_-]*types?/i],
  ]
  const kindOf = ({ file }: Table) => kinds.find(([, pattern]) => pattern.test(file))?.[0] ?? 'main'
  const files = new Map<keyof EdeFiles, Table>()
  for (const table of tables) {
    const kind = kindOf(table)
    const other = files.get(kind)
    if (other)
      throw new Problem('invalid', `${table.file} and ${other.file} are the same part of an EDE set; import one set at a time`)
    files.set(kind, table)
  }
  const main = files.get('main')
  if (!main) throw new Problem('invalid', 'The table of the points is missing; the file whose name ends with _EDE.csv holds it')
  return { ...Object.fromEntries(files), main }
}

export const readEdeTables = (tables: readonly Table[]): Promise<Ede> => runInSlices(readEde(sortEdeFiles(tables)))

/** @throws Problem invalid when there is not just one file */
export function readRegistryTables({ registry }: RegistryDriver, tables: readonly Table[]): Registry {
  const [table, ...more] = tables
  if (!table || more.length) throw new Problem('invalid', `A registry is one file; there are ${tables.length}`)
  return registry.read(table)
}

/** @returns the catalogue with the source imported, and what would change */
export const planImport = async (catalogue: Catalogue, source: ImportSource, addresses: Addresses): Promise<ImportPlan> =>
  source.format === 'ede'
    ? runInSlices(planEde(catalogue, source.ede, { addresses, poll_secs: source.poll_secs }))
    : planRegistry(catalogue, source.registry, source.device, source.poll_secs)

/** Rows that are refused, and the parts of accepted rows that are ignored. */
export function complaintsOf(source: ImportSource): { refused: Refusal[]; notes: Refusal[]; others: Record<string, number> } {
  if (source.format !== 'ede') return { ...source.registry, others: {} }
  return source.ede
}

/**
 * Imports a source. The plan is made from the catalogue at the time of the change, so concurrent changes are not lost.
 *
 * @throws Problem invalid or conflict
 */
export async function applyImport(catalogue: FieldCatalogue, source: ImportSource, addresses: Parameters<typeof planImport>[2]) {
  const done: { plan?: ImportPlan } = {}
  await changeCatalogue(catalogue, async held => {
    const plan = await planImport(held, source, addresses)
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

/**
 * Reads the VOLTTRON registry configuration of a BACnet device.
 *
 * @source VOLTTRON documentation, "BACnet Driver", registry configuration file
 */
import { formatTarget, isText, notOneValue, parseTarget, PRESENT_VALUE, type Target } from '#shared/core/bacnet/object.ts'
import {
  type Cells,
  kebab,
  readRegistry,
  type Registry,
  type RegistryCells,
  type RegistryPoint,
  unitNamed,
} from '../../../core/catalogue/registry.ts'
import type { PointTable } from '../../../core/catalogue/table.ts'
import { POINT_TYPES } from './device-scan.ts'

/** The columns Writable and Write Priority are ignored, because nothing here writes. */
export const readBacnetRegistry = (table: PointTable): Registry =>
  readRegistry(table, ['BACnet Object Type', 'Property', 'Index'], readBacnetCells)

function readBacnetCells(cells: Cells): RegistryCells {
  const type = kebab(cells('BACnet Object Type'))
  if (typeof parseTarget(`${type},0`) === 'string')
    return { column: 'BACnet Object Type', message: String(parseTarget(`${type},0`)) }
  const index = cells('Index')
  const target = parseTarget(`${type},${index}/${kebab(cells('Property') || 'presentValue')}`)
  if (typeof target === 'string')
    return { column: /^\d+$/.test(index) && !target.startsWith('instance') ? 'Property' : 'Index', message: target }
  const many = notOneValue(target)
  if (many !== undefined) return { column: 'Property', message: many }
  const cov = cells('COV Flag').toLowerCase() === 'true' && target.property === PRESENT_VALUE
  return { address: formatTarget(target), ...bacnetValue(target, cells('Units')), ...(cov && { cov }) }
}

const OUT_OF_SERVICE = 81

function bacnetValue(target: Target, units: string): Pick<RegistryPoint, 'kind' | 'unit' | 'scale' | 'offset'> {
  if (isText(target.property)) return { kind: 'string', unit: 'count' }
  if (target.property === OUT_OF_SERVICE) return { kind: 'bool', unit: 'bool' }
  if (target.property !== PRESENT_VALUE) return { kind: 'number', ...unitNamed(units) }
  switch (POINT_TYPES.get(target.type)) {
    case 'binary':
      return { kind: 'bool', unit: 'bool' }
    case 'multistate':
      return { kind: 'enum', unit: 'enum' }
    case 'text':
      return { kind: 'string', unit: 'count' }
    default:
      return { kind: 'number', ...unitNamed(units) }
  }
}

/** A point of the catalogue on a BACnet device, and the conversion of its value. */
import { type Conversion, convertNumber } from '../../../core/poll/conversion.ts'
import type { Value } from '#shared/core/telemetry/reading.ts'
import type { Target } from '#shared/core/bacnet/object.ts'
import type { PropertyResult } from './reply.ts'
import { formatError } from './refusal.ts'

export type BacnetPoint = { target: Target; conversion: Conversion }

/** @returns the value of the point, or the reason why there is none */
export function pointValue(result: PropertyResult, conversion: Conversion): { value: Value } | { reason: string } {
  if ('error' in result) return { reason: formatError(result.error) }
  const [only] = result.values
  if (!only || result.values.length > 1) return { reason: `${result.values.length} values instead of one` }
  const value = valueOf(only, conversion)
  return value === undefined ? { reason: `a value of type ${only.type} cannot be a ${conversion.kind}` } : { value }
}

function valueOf(raw: NonNullable<Extract<PropertyResult, { values: unknown }>['values'][number]>, conversion: Conversion) {
  switch (raw.type) {
    case 'boolean':
      return convertNumber(raw.value ? 1 : 0, conversion)
    case 'unsigned':
    case 'signed':
    case 'enumerated':
    case 'real':
    case 'double':
      return convertNumber(Number(raw.value), conversion)
    case 'text':
      return conversion.kind === 'string' ? raw.value : undefined
    default:
      return undefined
  }
}

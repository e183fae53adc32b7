import type { PointKind } from '#shared/core/model/model.ts'
import type { Value } from '#shared/core/telemetry/reading.ts'

/** How a raw number becomes the point's value: number × scale + offset for kind `number`, as it is for the others. */
export type Conversion = { kind: PointKind; scale: number; offset: number }

/** @returns the value, or undefined when a device sent what this kind of point cannot be */
export function convertNumber(raw: number, { kind, scale, offset }: Conversion): Value | undefined {
  if (!Number.isFinite(raw)) return undefined
  switch (kind) {
    case 'number': {
      const value = raw * scale + offset
      return Number.isFinite(value) ? value : undefined
    }
    case 'bool':
      return raw === 0 ? false : raw === 1 ? true : undefined
    case 'enum':
      return raw
    case 'string':
      return undefined
  }
}

import type { PointKind } from '#shared/core/model/model.ts'
import type { Value } from '#shared/core/telemetry/reading.ts'

/** Conversion of a raw number to the value of a point: raw × scale + offset for kind `number`, unchanged for other kinds. */
export type Conversion = { kind: PointKind; scale: number; offset: number }

/** @returns the value; undefined when the number is not a value of this kind */
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

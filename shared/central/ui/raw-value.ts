/** A value as the device holds it, in the words of the point that reads it. */
import type { PointKind } from '#shared/core/model/model.ts'
import { unitLabel } from './measure.ts'

type RawPoint = { kind: PointKind; unit: string; scale?: number; offset?: number; states?: string[] }

/** @param point undefined when nobody knows what the value measures: it stays as it is */
export function valueWords(value: number | boolean | string, point: RawPoint | undefined): string {
  if (typeof value === 'string') return value
  const text = point?.states?.[Number(value)]
  if (text) return `${text} (${Number(value)})`
  if (typeof value === 'boolean' || point?.kind === 'bool') return Number(value) === 0 ? 'off' : 'on'
  const { kind = 'number', unit = 'count', scale = 1, offset = 0 } = point ?? {}
  const figure = String(Number((kind === 'number' ? value * scale + offset : value).toPrecision(7)))
  return kind === 'number' && unit !== 'count' ? `${figure} ${unitLabel(unit)}` : figure
}

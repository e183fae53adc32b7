/** The cost of a fault, as an edge computed it. */
import { type EnergyUse, type PricingGap, type Impact, type Range } from '../impact/impact.ts'
import { CARRIERS } from '#shared/core/impact/kinds.ts'
import { IMPACT_KINDS } from '../impact/kinds.ts'
import { asText, choice, type Fields, fields, id, list, number, type MemberPath, text, unfit } from './read.ts'

/** Most assumptions of one figure: several times what a formula makes. */
const BASIS_MAX = 64
/** Longest name of a unit or a currency. */
const UNIT_MAX = 16

export function readImpact(from: Fields): Impact {
  return {
    kind: choice(from, 'kind', IMPACT_KINDS),
    ...readRange(from),
    unit: text(from, 'unit', UNIT_MAX),
    basis: list(from, 'basis', BASIS_MAX, (line, at) => asText(line, at)),
    energy: list(from, 'energy', CARRIERS.length, (part, at): EnergyUse => {
      const use = fields(part, at)
      return { carrier: choice(use, 'carrier', CARRIERS), ...readRange(use) }
    }),
  }
}

function readRange(from: Fields): Range {
  const range = { low: number(from, 'low', 0), mid: number(from, 'mid', 0), high: number(from, 'high', 0) }
  if (!(range.low <= range.mid && range.mid <= range.high)) unfit(`${from.path}.mid`, 'between low and high', range.mid)
  return range
}

export function readGap(value: unknown, path: MemberPath): PricingGap {
  const from = fields(value, path)
  const what = choice(from, 'what', ['quantity', 'price', 'point', 'data'] as const)
  if (what === 'price') return { what, name: choice(from, 'name', CARRIERS) }
  const gap = { name: text(from, 'name', 256), equipment_id: id(from, 'equipment_id') }
  return what === 'quantity' ? { what, ...gap, why: text(from, 'why') } : { what, ...gap }
}

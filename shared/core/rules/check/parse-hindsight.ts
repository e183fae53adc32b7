/** Reads the `hindsight` of a rule: which baseline may show later on that its first days were not normal. */
import type { CauseWeight } from '#shared/core/findings/finding.ts'
import type { ValueType } from '#shared/core/rules/language/dimension.ts'
import type { YamlFields, YamlText } from '#shared/core/rules/language/yaml-text.ts'
import type { BaselineSpec, HindsightSpec } from './rule.ts'
import type { TypedExpr } from './typed-expr.ts'

/** Reads a constant in the unit of a type. */
type ReadConstant = (fields: YamlFields, key: string, type: ValueType) => TypedExpr | undefined

/** `hindsight: { of: rest, usual: 0.5 K, limit: tolerance, above: { heating_valve: 0.7 }, explains: It was {early}. }`. */
export function readHindsight(
  root: YamlFields,
  yaml: YamlText,
  specs: BaselineSpec[],
  typeOf: (baseline: string) => ValueType,
  constant: ReadConstant,
): HindsightSpec | undefined {
  const fields = root.fields('hindsight')
  if (!fields) return undefined
  const of = fields.need('of')
  const spec = specs.find(({ name }) => name === of)
  if (!spec || spec.on.length > 0)
    yaml.complain(fields.node('of') ?? fields.map, 'hindsight needs a baseline with one value a day')
  const type = typeOf(of)
  const step: ValueType = type.kind === 'quantity' ? { ...type, absolute: false } : type
  const limit = constant(fields, 'limit', step)
  if (!fields.has('limit')) yaml.complain(fields.map, 'limit is missing')
  const usual = constant(fields, 'usual', type)
  const above = readWeights(fields.fields('above'))
  const below = readWeights(fields.fields('below'))
  if (above.length + below.length === 0) yaml.complain(fields.map, 'hindsight names causes above or below')
  if (above.length > 0 && below.length > 0 && !fields.has('usual')) yaml.complain(fields.map, 'causes above and below need usual')
  const explains = readSentence(fields.need('explains'), fields, yaml)
  fields.close()
  return spec && limit && { of, limit, ...(usual && { usual }), above, below, explains }
}

/** Heaviest first, as a finding lists its causes. */
const readWeights = (fields: YamlFields | undefined): CauseWeight[] =>
  (fields?.keys() ?? [])
    .map(component => ({ component, weight: fields!.number(component) ?? 0 }))
    .toSorted((a, b) => b.weight - a.weight)

function readSentence(text: string, fields: YamlFields, yaml: YamlText): HindsightSpec['explains'] {
  return text
    .split(/(\{[^{}]*\})/)
    .filter(part => part !== '')
    .map(part => {
      if (!part.startsWith('{')) return part
      const word = (['early', 'later'] as const).find(known => `{${known}}` === part)
      if (!word) yaml.complain(fields.node('explains'), `${part} is neither {early} nor {later}`)
      return { word: word ?? 'early' }
    })
}

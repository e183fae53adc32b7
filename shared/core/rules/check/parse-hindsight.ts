/** Reads the `hindsight` of a rule: which baseline may show later on that its first days were not normal. */
import { isScalar } from 'yaml'
import type { ValueType } from '#shared/core/rules/language/dimension.ts'
import type { YamlFields, YamlText } from '#shared/core/rules/language/yaml-text.ts'
import type { BaselineSpec, HindsightCause, HindsightSpec } from './rule.ts'
import type { TypedExpr } from './typed-expr.ts'

/** Reads a constant in the unit of a type. */
type ReadConstant = (fields: YamlFields, key: string, type: ValueType) => TypedExpr | undefined
/** Reads a condition that is written as a key. */
type ReadCondition = (fields: YamlFields, text: string) => TypedExpr | undefined

/** `hindsight: { of: rest, usual: 0.5 K, limit: tolerance, above: { heating_valve: 0.7 }, explains: It was {early}. }`. */
export function readHindsight(
  root: YamlFields,
  yaml: YamlText,
  specs: BaselineSpec[],
  typeOf: (baseline: string) => ValueType,
  constant: ReadConstant,
  condition: ReadCondition,
): HindsightSpec | undefined {
  const fields = root.fields('hindsight')
  if (!fields) return undefined
  const of = fields.need('of')
  const spec = specs.find(({ name }) => name === of)
  if (!spec) yaml.complain(fields.node('of') ?? fields.map, 'hindsight needs a baseline of its rule')
  const type = typeOf(of)
  const step: ValueType = type.kind === 'quantity' ? { ...type, absolute: false } : type
  const limit = constant(fields, 'limit', step)
  if (!fields.has('limit')) yaml.complain(fields.map, 'limit is missing')
  const usual = constant(fields, 'usual', type)
  const above = readWeights(fields.fields('above'), yaml, condition)
  const below = readWeights(fields.fields('below'), yaml, condition)
  if (above.length + below.length === 0) yaml.complain(fields.map, 'hindsight names causes above or below')
  if (above.length > 0 && below.length > 0 && !fields.has('usual')) yaml.complain(fields.map, 'causes above and below need usual')
  if (spec && spec.on.length > 0 && !fields.has('usual')) yaml.complain(fields.map, 'hindsight of a model needs usual')
  const explains = readSentence(fields.need('explains'), fields, yaml)
  fields.close()
  return spec && limit && { of, limit, ...(usual && { usual }), above, below, explains }
}

/** Heaviest first, as a finding lists its causes. */
function readWeights(fields: YamlFields | undefined, yaml: YamlText, condition: ReadCondition): HindsightCause[] {
  const causes = (fields?.keys() ?? []).flatMap((component): HindsightCause[] => {
    if (isScalar(fields!.node(component))) return [{ component, weight: fields!.number(component) ?? 0 }]
    const cases = fields!.fields(component)
    return (cases?.keys() ?? []).flatMap((text): HindsightCause[] => {
      const when = condition(cases!, text)
      if (when && !asksForPoints(when))
        yaml.complain(cases!.keyNode(text), 'a cause of hindsight asks only which points are there: has(…)')
      return [{ component, weight: cases!.number(text) ?? 0, ...(when && { when }) }]
    })
  })
  return causes.toSorted((a, b) => b.weight - a.weight)
}

const JOINED = ['and', 'or', 'not']
const asksForPoints = (typed: TypedExpr): boolean =>
  typed.kind === 'op' && (typed.op === 'has' || (JOINED.includes(typed.op) && typed.args.every(asksForPoints)))

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

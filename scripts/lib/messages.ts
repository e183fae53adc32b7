/** The texts of the product that people read, as the sources have them: the messages of the catalogues of languages. */
import { parse as parseYaml } from 'yaml'
import {
  type CallExpression,
  type Expression,
  type Node,
  parse,
  type Property,
  type TaggedTemplateExpression,
  type TemplateLiteral,
} from 'acorn'
import { transformSync } from 'esbuild'
import { ALERT_KINDS } from '#shared/central/commands/alerts.ts'
import { FINDING_KINDS, PRIORITY_WORDS } from '#shared/core/findings/finding.ts'
import { EQUIPMENT_TYPES } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { IMPORT_FORMATS, REGISTRY_DRIVERS } from '#appliance/services/point-import.ts'
import { IMPACT_KINDS, impactKindSpec } from '#shared/core/impact/kinds.ts'
import { levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { PROBLEMS } from '#shared/core/problem.ts'
import { describeType, typeOfUnit } from '#shared/core/rules/language/dimension.ts'
import { UNITS } from '#shared/core/model/unit.ts'
import { STATES } from '#shared/central/ui/icons.ts'
import { hindsightTail } from '#shared/core/rules/report/evidence.ts'
import { roleLabelText } from '#shared/central/ui/measure.ts'
import { BOX_REASONS } from '#shared/core/update/box-reasons.ts'
import { SCHEMA_CHECKS } from '#shared/node/http/errors.ts'
import { countMessage, messageOf } from '#shared/node/http/language.ts'
import { messagesIn, parseTemplate } from '#shared/node/http/template-messages.ts'

/** @returns the messages of one source file, each as often as it stands there */
export function extractMessages(source: string): string[] {
  // Otherwise a template that holds `</script>` is rewritten.
  const supported = { 'inline-script': false }
  const { code } = transformSync(source, { loader: 'ts', charset: 'utf8', supported })
  const messages: string[] = []
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true }), node => {
    if (node.type === 'TaggedTemplateExpression') messages.push(...ofTemplate(node as TaggedTemplateExpression))
    if (node.type === 'CallExpression') messages.push(...ofCall(node as CallExpression))
  })
  return messages
}

function visit(node: Node, see: (node: Node) => void): void {
  see(node)
  for (const child of Object.values(node).flat()) if (isNode(child)) visit(child, see)
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

function ofTemplate({ tag, quasi }: TaggedTemplateExpression): string[] {
  const strings = quasi.quasis.map(({ value }) => value.cooked!)
  const name = nameOf(tag)
  if (name === 'html') return messagesIn(parseTemplate(strings))
  return name === 'say' || name === 'message' ? [messageOf(strings)] : []
}

function ofCall({ callee, arguments: [first, second, ...rest] }: CallExpression): string[] {
  const name = nameOf(callee as Expression)
  if (name === 'sayCountOf') return second ? texts(second).map(countMessage) : []
  if (name !== 'words' || !first) return []
  const names = [second, ...rest].flatMap(one => (one ? texts(one) : []))
  return tableTexts(first, names)
}

const nameOf = (node: Node): string | undefined =>
  node.type === 'Identifier' ? (node as Node & { name: string }).name : undefined

/** The texts that an expression may be: a literal, or either side of a choice. */
function texts(node: Node): string[] {
  if (node.type === 'Literal') {
    const { value } = node as Node & { value: unknown }
    return typeof value === 'string' ? [value] : []
  }
  const { consequent, alternate } = node as Node & { consequent?: Node; alternate?: Node }
  return consequent && alternate ? [...texts(consequent), ...texts(alternate)] : []
}

/** The texts of a table or list that `words` is given; places of a list have numbers as names. */
function tableTexts(node: Node, names: string[], name?: string): string[] {
  const {
    properties,
    elements,
    arguments: args,
  } = node as Node & { properties?: Property[]; elements?: Node[]; arguments?: Node[] }
  if (properties) return properties.flatMap(one => (one.type === 'Property' ? tableTexts(one.value, names, keyOf(one.key)) : []))
  if (elements) return elements.flatMap((one, i) => tableTexts(one, names, String(i)))
  if (args) return args.flatMap(one => tableTexts(one, names))
  const isText = names.length === 0 || (name !== undefined && names.includes(name))
  return isText ? texts(node).filter(text => /\p{L}/u.test(text)) : []
}

const keyOf = (key: Node): string | undefined => nameOf(key) ?? texts(key)[0]

/** The texts of the core that pages show: names of roles, kinds, types and states, and the titles of problems. */
export const coreTexts = (): string[] => [
  ...Object.values(ROLES).map(({ label }) => roleLabelText(label)),
  ...Object.values(PROBLEMS).map(({ title }) => title),
  ...Object.values(PRIORITY_WORDS),
  ...Object.keys(UNITS).flatMap(unit => [true, false].map(absolute => describeType(typeOfUnit(unit, absolute)))),
  describeType({ kind: 'bare' }),
  ...SCHEMA_CHECKS,
  ...BOX_REASONS,
  ...IMPORT_FORMATS.values(),
  ...REGISTRY_DRIVERS.map(({ registry }) => registry.number.label),
  ...levelMeanings().map(({ name }) => name),
  ...IMPACT_KINDS.map(kind => impactKindSpec(kind).words),
  ...[...FINDING_KINDS, ...ALERT_KINDS, ...EQUIPMENT_TYPES, ...STATES].map(name => name.replaceAll('_', ' ')),
]

/** @returns the sentences that a source of the core makes: its texts that begin with several words */
export function madeSentences(source: string): string[] {
  const { code } = transformSync(source, { loader: 'ts', charset: 'utf8' })
  const found: string[] = []
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), node => {
    if (node.type === 'TemplateLiteral') found.push(messageOf((node as TemplateLiteral).quasis.map(({ value }) => value.cooked!)))
    if (node.type === 'Literal') found.push(...texts(node))
  })
  return found.filter(text => SENTENCE.test(text) || /^\p{Lu}\p{L}+: \{/u.test(text))
}

/** @returns what the problems of a source say of the case: details that are a sentence and stand where the problem is made */
export function problemDetails(source: string): string[] {
  const { code } = transformSync(source, { loader: 'ts', charset: 'utf8', supported: { 'inline-script': false } })
  const found: string[] = []
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true }), node => {
    if (node.type !== 'NewExpression') return
    const { callee, arguments: args } = node as unknown as { callee: Node; arguments: Node[] }
    if (['Problem', 'ThrottledProblem'].includes(nameOf(callee) ?? '') && args[1]) found.push(...detailTexts(args[1]))
  })
  return found.filter(text => SENTENCE.test(text) && !FOR_PROGRAMS.test(text))
}

/** Two words beside each other: without them a text with places would be recognised in any other. */
const SENTENCE = /\p{L}{2}[^{]* \p{L}{2}/u

/** Functions of the checks of a package whose texts these are, with the place of the text among the arguments. */
const CHECKS: Record<string, number> = { add: 2, at: 1, here: 1 }

/** @returns what the checks of CSV packages say, without the place that stands before it */
export function checkTexts(source: string): string[] {
  const { code } = transformSync(source, { loader: 'ts', charset: 'utf8' })
  const found: string[] = []
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), node => {
    if (node.type !== 'CallExpression') return
    const { callee, arguments: args } = node as CallExpression
    const name = callee.type === 'MemberExpression' ? nameOf(callee.property) : nameOf(callee)
    const text = args[CHECKS[name ?? ''] ?? args.length]
    if (text) found.push(...detailTexts(text))
  })
  return found.filter(text => SENTENCE.test(text))
}

/** What is called with a message of the rule language, with the place of the text among the arguments. */
const RULE_CHECKS: Record<string, number> = { ExprError: 1, complain: 1, complainAt: 1, mismatch: 1, push: 0 }

/** @returns what a check of rules or one of their tests says of a place */
export function ruleCheckTexts(source: string): string[] {
  const { code } = transformSync(source, { loader: 'ts', charset: 'utf8' })
  const found: string[] = []
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), node => {
    if (node.type === 'Property') {
      const { key, value } = node as Property
      if (nameOf(key) === 'message') found.push(...detailTexts(value))
    }
    // A function may only choose between texts.
    if (node.type === 'ReturnStatement' || node.type === 'ArrowFunctionExpression')
      found.push(...returned(node).filter(text => SENTENCE.test(text)))
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return
    const { callee, arguments: args } = node as CallExpression
    const name = callee.type === 'MemberExpression' ? nameOf(callee.property) : nameOf(callee)
    const text = args[RULE_CHECKS[name ?? ''] ?? args.length]
    if (text) found.push(...detailTexts(text))
  })
  return found.filter(text => /\p{L}{2}/u.test(text) && !text.includes('(name'))
}

const returned = (node: Node): string[] => {
  const { argument, body } = node as Node & { argument?: Node | null; body?: Node }
  const given = argument ?? body
  return given ? detailTexts(given) : []
}

/** Details that a person on a page never gets: forms send these things by themselves. */
const FOR_PROGRAMS = /Authorization|confirm: true|^\/piece/

function detailTexts(node: Node): string[] {
  if (node.type === 'TemplateLiteral') return [messageOf((node as TemplateLiteral).quasis.map(({ value }) => value.cooked!))]
  return texts(node)
}

/** The texts of a rule file that pages show in other languages. */
export function ruleTexts(source: string): string[] {
  const { title, explains, hindsight, cause = {}, impact } = parseYaml(source) as WrittenTexts
  const tail = hindsightTail({ first: '{first}', last: '{last}', found: '{found}' })
  const sentences = [explains, hindsight && `${hindsight.explains} ${tail}`, impact?.because].flatMap(text => text ?? [])
  const components = [cause, hindsight?.above ?? {}, hindsight?.below ?? {}].flatMap(Object.keys)
  return [title, ...sentences.map(withPlaces), ...components.map(component => component.replaceAll('_', ' '))]
}

type WrittenTexts = {
  title: string
  explains?: string
  hindsight?: HindsightTexts
  cause?: Record<string, unknown>
  impact?: { because?: string }
}
type HindsightTexts = { explains: string; above?: object; below?: object }

function withPlaces(sentence: string): string {
  let places = 0
  return sentence.replaceAll(/\{[^{}]*\}/g, () => `{${places++}}`)
}

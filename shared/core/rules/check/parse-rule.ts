/**
 * Reads and checks one rule file: keys, names, dimensions. This is the entry of the phase: `parseRule` takes the text of a
 * file and gives a checked rule or all errors.
 */
import { FINDING_KINDS, type FindingKind, type Severity } from '#shared/core/findings/finding.ts'
import { EQUIPMENT_TYPES, type EquipmentType, isId } from '#shared/core/model/model.ts'
import { nearestRoles, ROLES, roleOf } from '#shared/core/model/role.ts'
import { UNITS, unitCode } from '#shared/core/model/unit.ts'
import { sha256 } from '#shared/core/findings/finding-id.ts'
import { OAF_ROLES } from '#shared/core/rules/language/macros.ts'
import { getOwn } from '#shared/core/get-own.ts'
import { ruleFigures } from './rule-figures.ts'
import { parseProgram } from './parse-program.ts'
import { parseTests } from './parse-tests.ts'
import { ROLE_GROUPS, type RoleGroup, type RuleParam, type WrittenRule } from './rule.ts'
import { type YamlError, type YamlFields, parseYaml, type YamlText } from '#shared/core/rules/language/yaml-text.ts'

type RuleParseResult = { ok: true; rule: WrittenRule } | { ok: false; errors: YamlError[] }

/**
 * @param text the YAML of one rule, as LANGUAGE.md describes it
 * @param filename where it came from, for messages and for `Rule.filename`
 * @returns the checked rule, or every error with its place, in the order of the file; it never throws
 */
export function parseRule(text: string, filename: string): RuleParseResult {
  const { root, yaml, body } = parseYaml(text)
  if (!root) return { ok: false, errors: yaml.errors }
  const rule = readRule(root, yaml, body, filename, sha256(text))
  root.close()
  const errors = [...new Map(yaml.errors.map(error => [JSON.stringify(error), error])).values()].toSorted(
    (a, b) => a.line - b.line || a.column - b.column,
  )
  return errors.length === 0 ? { ok: true, rule } : { ok: false, errors }
}

function readRule(root: YamlFields, yaml: YamlText, body: Record<string, unknown>, filename: string, sha: string): WrittenRule {
  const id = root.need('id')
  if (id && !isId(id)) yaml.complain(root.node('id'), 'an id is made of letters, digits, ".", "_" and "-"')
  const each = readEach(root, yaml)
  const roles = each ? {} : readRoles(root.fields('roles'), yaml)
  const optional = readRoles(root.fields('optional'), yaml)
  if (!root.has('roles')) yaml.complain(root.map, 'roles is missing')
  refuseAfterTests(root, yaml)
  const params = readParams(root.fields('params'), yaml)
  checkSources(root.fields('sources'), yaml, body)
  const program = parseProgram(root, yaml, { roles: { ...optional, ...roles }, params, ...(each && { each: each.name }) }, each)
  const rule: WrittenRule = {
    id,
    title: root.need('title'),
    kind: readKind(root, yaml),
    equipment: readEquipment(root, yaml),
    roles: { ...byRole(roles), ...(program.guard && OAF_ROLES) },
    optional: byRole(optional),
    params,
    severity: readSeverity(root, yaml),
    source: root.need('source'),
    sha256: sha,
    filename,
    body,
    program,
    tests: parseTests(root, yaml),
  }
  return rule
}

/** Refuses keys after `tests`: a file that ends within its tests then contains everything that is executed. */
function refuseAfterTests(root: YamlFields, yaml: YamlText): void {
  const keys = root.keys()
  const late = root.has('tests') ? keys[keys.indexOf('tests') + 1] : undefined
  if (late !== undefined) yaml.complain(root.keyNode(late), `${late} stands after the tests, which end a rule`)
}

const byRole = (roles: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(roles).map(([name, unit]) => [roleOf(name)!, unit]))

/** `roles: { x: any }` makes a rule that runs once for every role. */
function readEach(root: YamlFields, yaml: YamlText): { name: string; which: RoleGroup } | undefined {
  const roles = root.fields('roles')
  const whichOf = (key: string) => ROLE_GROUPS.find(word => word === roles?.text(key))
  const name = roles?.keys().find(key => whichOf(key) !== undefined)
  if (!roles || name === undefined) return undefined
  if (roles.keys().length > 1) yaml.complain(roles.keyNode(name), 'a rule over every role has no other required role')
  if (roleOf(name)) yaml.complain(roles.keyNode(name), `${name} is a role: choose another name, such as x`)
  return { name, which: whichOf(name)! }
}

/** @returns name as written → unit; unknown names and units are reported and left out */
function readRoles(fields: YamlFields | undefined, yaml: YamlText): Record<string, string> {
  const roles: Record<string, string> = {}
  for (const name of fields?.keys() ?? []) {
    const role = roleOf(name)
    const unit = unitCode(fields!.text(name) ?? '')
    if (!role) yaml.complain(fields!.keyNode(name), `${name} is no role (like it: ${nearestRoles(name).join(', ')})`)
    else if (!unit) yaml.complain(fields!.node(name), `unknown unit ${fields!.text(name)}`)
    else if (!fits(unit, ROLES[role]!.unit))
      yaml.complain(fields!.node(name), `${name} is measured in ${ROLES[role]!.unit}, not in ${unit}`)
    else roles[name] = unit
  }
  return roles
}

const fits = (unit: string, canonical: string): boolean =>
  UNITS[unit]!.dimension === 'none' ? unit === canonical : unit !== 'K' && UNITS[unit]!.dimension === UNITS[canonical]!.dimension

function readParams(fields: YamlFields | undefined, yaml: YamlText): Record<string, RuleParam> {
  const params = (fields?.keys() ?? []).flatMap((name): [string, RuleParam][] => {
    const field = fields!.fields(name)
    return field ? [[name, readParam(name, field, fields!.keyNode(name), yaml)]] : []
  })
  return Object.fromEntries(params)
}

function readParam(name: string, field: YamlFields, at: unknown, yaml: YamlText): RuleParam {
  const written = field.text('unit') ?? ''
  const unit = written === 'any' ? 'any' : unitCode(written)
  if (!unit)
    yaml.complain(field.node('unit') ?? at, `${name} needs a known unit (count for a plain number, any for the role's own)`)
  const [min, max] = [field.number('min') ?? Number.NaN, field.number('max') ?? Number.NaN]
  const param: RuleParam = { default: field.number('default') ?? Number.NaN, min, max, unit: unit ?? 'count' }
  const perRole = field.fields('perRole')
  if (perRole) {
    param.perRole = {}
    for (const key of perRole.keys()) {
      const role = roleOf(key) ?? (getOwn(UNITS, key) && key)
      if (!role) yaml.complain(perRole.keyNode(key), `${key} is neither a role nor a unit`)
      else param.perRole[role] = perRole.number(key) ?? Number.NaN
    }
  }
  for (const value of [param.default, ...Object.values(param.perRole ?? {})]) {
    if (!(min <= value && value <= max)) yaml.complain(at, `${name} needs default, min and max with min <= default <= max`)
  }
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || roleOf(name)) yaml.complain(at, `${name} cannot be a parameter's name`)
  field.close()
  return param
}

/** Refuses a source of a figure that the rule does not have: the figure was altered, and its reason with it. */
function checkSources(fields: YamlFields | undefined, yaml: YamlText, body: Record<string, unknown>): void {
  const figures = new Set(ruleFigures(body))
  for (const key of fields?.keys() ?? []) {
    fields!.text(key)
    const stray = key.split(/,\s*/).find(name => !figures.has(name))
    if (stray !== undefined) yaml.complain(fields!.keyNode(key), `sources: the rule has no figure ${stray}`)
  }
}

function readKind(root: YamlFields, yaml: YamlText): FindingKind {
  const text = root.text('kind') ?? 'fault'
  const kind = FINDING_KINDS.find(known => known === text)
  if (!kind) yaml.complain(root.node('kind'), `kind is one of ${FINDING_KINDS.join(', ')}`)
  return kind ?? 'fault'
}

function readEquipment(root: YamlFields, yaml: YamlText): (EquipmentType | 'any')[] {
  const types: (EquipmentType | 'any')[] = []
  for (const { text, node } of root.list('equipment')) {
    const type = text === 'any' ? text : EQUIPMENT_TYPES.find(known => known === text)
    if (type) types.push(type)
    else yaml.complain(node, `${text} is no equipment type (any, ${EQUIPMENT_TYPES.join(', ')})`)
  }
  if (!root.has('equipment')) yaml.complain(root.map, 'equipment is missing')
  return types
}

function readSeverity(root: YamlFields, yaml: YamlText): Severity {
  const severity = ([1, 2, 3, 4] as const).find(known => known === root.number('severity'))
  if (!severity) yaml.complain(root.node('severity') ?? root.map, 'severity is 1 (critical), 2, 3 or 4 (advisory)')
  return severity ?? 4
}

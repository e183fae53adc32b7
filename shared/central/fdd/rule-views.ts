/** Rules as pages and routes show them: without their tests, and without the program that only the engine runs. */
import { basename, relative } from 'node:path'
import type { ParamOwner } from '#shared/core/rules/check/param-settings.ts'
import type { CachedRule, LoadedFromCache } from '#shared/node/rules/rule-cache.ts'
import type { FileRecord } from '#shared/node/rules/rule-files.ts'
import { sha256 } from '#shared/core/findings/finding-id.ts'
import { roleAlternatives } from '#shared/core/rules/check/role-alternatives.ts'
import type { WrittenRule } from '#shared/core/rules/check/rule.ts'
import { writtenCauses, explainCondition, type WrittenCause } from '#shared/core/rules/report/explain.ts'

export type RuleView = Pick<
  CachedRule,
  'id' | 'title' | 'kind' | 'equipment' | 'roles' | 'optional' | 'params' | 'severity' | 'source' | 'sha256' | 'filename'
> &
  Pick<CachedRule, 'gate' | 'lets'> &
  Pick<ParamOwner, 'each'> & { condition: string }

/** What only the text of a rule's file holds. */
export type RuleReading = {
  yaml: string
  /** Its own tests; what they say takes seconds for some rules, and `RuleService.test` runs them. */
  tests: { name: string; line: number }[]
  /** The sentence of its findings, with figures in braces. */
  explains: string
  /** When it finds its fault, a sentence each. */
  words: string[]
  /** Roles of which it needs one, as `roleAlternatives` has them. */
  alternatives: string[]
  causes: WrittenCause[]
  /** Figures of the rule with where each comes from. */
  sources: Record<string, string>
}

export function readingOf(rule: WrittenRule, yaml: string): RuleReading {
  const { explains, sources } = rule.body
  return {
    yaml,
    tests: rule.tests.map(({ name, line }) => ({ name, line })),
    explains: typeof explains === 'string' ? explains : '',
    words: explainCondition(rule),
    alternatives: roleAlternatives(rule),
    causes: writtenCauses(rule),
    sources: Object.fromEntries(
      Object.entries((sources ?? {}) as Record<string, unknown>).flatMap(([names, source]) =>
        names.split(/,\s*/).map(name => [name, String(source)]),
      ),
    ),
  }
}

/** Every rule that counts, and every file that was read for it. */
export type LoadedViews = {
  /** The same for the same rules, whatever happened to their files. */
  revision: string
  /** By id. */
  rules: RuleView[]
  errors: { filename: string; line: number; message: string }[]
  files: FileRecord[]
  isProvisional: boolean
}
export type Catalogue = LoadedViews & { byId: ReadonlyMap<string, RuleView> }

export function viewsOf({ rules, errors, files, isProvisional }: LoadedFromCache): LoadedViews {
  return {
    revision: sha256(rules.map(rule => `${rule.id} ${rule.sha256}`).join('\n')),
    rules: rules.map(viewOf),
    errors: errors.map(({ filename, line, message }) => ({ filename, line, message })),
    files,
    isProvisional,
  }
}

export const catalogueOf = (views: LoadedViews): Catalogue => {
  return { ...views, byId: new Map(views.rules.map(rule => [rule.id, rule])) }
}

/** `rules` is empty where the file does not check or another one counts; `errors` say why. */
export type RuleFileView = {
  /** By which it is asked for and removed; of a deployed one within its folder. */
  filename: string
  path: string
  shipped: boolean
  /** Whether its rule counts in the place of a shipped one. */
  overrides_shipped: boolean
  sha256: string
  bytes: number
  changed_at: number
  rules: string[]
  errors: { line: number; message: string }[]
}

/** Shipped files of which no rule counts are left out: another file has taken their place. */
export function ruleFileViews(
  { files, byId, errors }: Catalogue,
  { shipped, deployed }: { shipped: string; deployed: string },
): RuleFileView[] {
  const isShipped = (path: string) => path.startsWith(`${shipped}/`)
  const shippedIds = new Set(files.flatMap(({ path, rule_id }) => (rule_id !== undefined && isShipped(path) ? rule_id : [])))
  const views = files.map(({ path, sha256: sha, bytes, changed_at, rule_id }): RuleFileView => {
    const counts = rule_id !== undefined && byId.get(rule_id)?.filename === path
    return {
      filename: isShipped(path) ? basename(path) : relative(deployed, path),
      path,
      shipped: isShipped(path),
      overrides_shipped: counts && !isShipped(path) && shippedIds.has(rule_id),
      sha256: sha,
      bytes,
      changed_at,
      rules: counts ? [rule_id] : [],
      errors: errors.filter(({ filename }) => filename === path).map(({ line, message }) => ({ line, message })),
    }
  })
  const listed = views.filter(({ shipped: is, rules }) => !is || rules.length > 0)
  return listed.toSorted((a, b) => (a.filename < b.filename ? -1 : 1))
}

function viewOf(rule: CachedRule): RuleView {
  const {
    id,
    title,
    kind,
    equipment,
    roles,
    optional,
    params,
    severity,
    source,
    sha256: sha,
    filename,
    gate,
    lets,
    program,
  } = rule
  const { each, expression: condition } = program
  const shown = { id, title, kind, equipment, roles, optional, params, severity, source, sha256: sha, filename }
  return { ...shown, lets, condition, ...(gate !== undefined && { gate }), ...(each && { each }) }
}

/** Rules as pages and routes show them: without their tests, and without the program that only the engine runs. */
import type { ParamOwner } from '#shared/core/rules/param-settings.ts'
import type { CachedRule, LoadedFromCache } from '#shared/node/rule-cache.ts'
import type { FileRecord } from '#shared/node/rule-files.ts'
import { sha256 } from '#shared/core/rules/identity.ts'

export type RuleView = Pick<
  CachedRule,
  'id' | 'title' | 'kind' | 'equipment' | 'roles' | 'optional' | 'params' | 'severity' | 'source' | 'sha256' | 'filename'
> &
  Pick<CachedRule, 'gate' | 'lets'> &
  Pick<ParamOwner, 'each'>

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
  const { each } = program
  const shown = { id, title, kind, equipment, roles, optional, params, severity, source, sha256: sha, filename }
  return { ...shown, lets, ...(gate !== undefined && { gate }), ...(each && { each }) }
}

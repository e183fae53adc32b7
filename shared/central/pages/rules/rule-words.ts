/** What the pages of rules have in common: addresses, and where a rule comes from, in words. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import type { RuleFileView, RuleView } from '#shared/central/fdd/rule-views.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { roleWords } from '#shared/central/ui/measure.ts'
import { EQUIPMENT_WORDS } from '#shared/central/ui/equipment-words.ts'
import { say, words } from '#shared/node/http/language.ts'

export const EDITOR_PATH = '/rule-editor'
/** Days whose findings are counted beside a rule. */
export const FINDING_DAYS = 30

/** `override`: an own rule in the place of a shipped one of the same id. */
export type RuleOrigin = 'shipped' | 'own' | 'override'
export const ORIGIN_WORDS: Record<RuleOrigin, string> = words({
  shipped: 'shipped',
  own: 'own',
  override: 'own, in the place of a shipped one',
})

export type ListedRule = {
  id: string
  title: string
  equipment: (EquipmentType | 'any')[]
  origin: RuleOrigin
  active: boolean
  /** In the last `FINDING_DAYS`. */
  findings: number
}

/** @param file of the rule that counts */
export const originOf = (file: RuleFileView | undefined): RuleOrigin =>
  file === undefined || file.shipped ? 'shipped' : file.overrides_shipped ? 'override' : 'own'

/** @returns `Air handler, Rooftop unit`, or `Any equipment` */
export const equipmentWords = (types: readonly (EquipmentType | 'any')[]): string =>
  types.map(type => (type === 'any' ? say`Any equipment` : EQUIPMENT_WORDS[type][0])).join(', ')

/**
 * @param q words, each of which has to be in the id, the title in English or as the reader sees it, or in `more`
 * @param type a kind of equipment that the rule has to be for
 */
export function ruleFilter({ q, type }: { q: string; type?: EquipmentType | undefined }) {
  const asked = q.toLowerCase().split(/\s+/).filter(Boolean)
  return ({ id, title, equipment }: Pick<RuleView, 'id' | 'title' | 'equipment'>, more: readonly string[]): boolean => {
    const text = [id, title, say(title), ...more].join(' ').toLowerCase()
    if (!asked.every(word => text.includes(word))) return false
    return type === undefined || equipment.includes(type) || equipment.includes('any')
  }
}

/** @returns roles that stand in for each other, `oa_t or parent ra_t with wx_oa_t`, each in words with its code */
export const choiceWords = (choice: string): Html[] =>
  choice.split(/ (or|with) /).map((part, i) => {
    if (i % 2 === 1) return html` ${part === 'or' ? say`or` : say`with`} `
    return html`${placedRoleWords(part)} <code>${part}</code>`
  })

/** A role of the equipment itself, of what serves it, or of the zones that it serves. */
function placedRoleWords(part: string): string {
  const [, place, role = part] = /^(parent|zones) (.+)$/.exec(part) ?? []
  if (place === 'parent') return say`${roleWords(role)} of what serves it`
  return place === 'zones' ? say`${roleWords(role)} of its zones` : roleWords(role)
}

/** The title in the text of a rule. @returns undefined where the text has none */
export const titleIn = (yaml: string): string | undefined => /^title: *(["']?)(.+?)\1 *$/m.exec(yaml)?.[2]

/** The list of faults of a rule. */
export const findingsHref = (rule_id: string): string =>
  `/faults?${new URLSearchParams({ rule: rule_id, days: String(FINDING_DAYS) })}`

/** The editor with a text to start from. */
export const editorHref = (start: { rule?: string; copy?: string; version?: string; file?: string } = {}): string => {
  const query = new URLSearchParams(start).toString()
  return query ? `${EDITOR_PATH}?${query}` : EDITOR_PATH
}

/** The page that lists the rules. */
import { type Static, Type } from '@sinclair/typebox'
import { EQUIPMENT_TYPES } from '#shared/core/model/model.ts'
import { DAY } from '#shared/core/time.ts'
import { oneOf, orBlank, type Route, route, strict } from '#shared/node/http/route.ts'
import type { CentralParts } from '#shared/central/context.ts'
import type { RuleFileView } from '#shared/central/fdd/rule-views.ts'
import { PAGE_NUMBER, partOf } from '#shared/central/ui/pager.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { RULES_PATH } from '#shared/central/ui/links.ts'
import { equipmentWords, FINDING_DAYS, originOf, type ListedRule, ruleFilter } from './rule-words.ts'
import { listRemovedRules } from '#shared/central/commands/rules.ts'
import { type RuleQuery, rulesBody, type RulesModel, SHOWN } from './rules.view.ts'
import { say } from '#shared/node/http/language.ts'

/** Rules of one page of the list: three screens of a phone. */
const ROWS_SHOWN = 20

const Query = strict({
  q: Type.Optional(Type.String({ maxLength: 200 })),
  type: Type.Optional(orBlank(oneOf(EQUIPMENT_TYPES))),
  show: Type.Optional(oneOf(SHOWN)),
  page: PAGE_NUMBER,
})

type ListContext = Pick<CentralParts, 'rules' | 'ruleStates' | 'ruleVersions' | 'findings' | 'clock'>

export const rulesPage = (context: ListContext, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: RULES_PATH,
    auth: 'viewer',
    summary: 'The page of rules',
    query: Query,
    handle: async call => {
      const model = await rulesModel(context, call.query)
      const mayOperate = layout.userOf(call.caller)?.mayOperate === true
      const csrf = layout.csrfOf(call.caller)
      return layout.document(call, { title: say`Rules`, current: RULES_PATH }, rulesBody({ ...model, mayOperate, csrf }))
    },
  }),
]

async function rulesModel(
  { rules, ruleStates, ruleVersions, findings, clock }: ListContext,
  { q = '', type, show = 'all', page }: Static<typeof Query>,
): Promise<Omit<RulesModel, 'mayOperate' | 'csrf'>> {
  const query: RuleQuery = { q: q.trim(), show, ...(type && { type }) }
  const [catalogue, files] = [await rules.catalogue(), await rules.files()]
  const inactive = new Set(ruleStates.list().flatMap(({ rule_id, active }) => (active ? [] : [rule_id])))
  const now = clock.now()
  const counts = findings.countByRule(now - FINDING_DAYS * DAY, now)
  const fileOf = new Map(files.flatMap(file => file.rules.map(id => [id, file] as const)))
  const rows = catalogue.rules.map(({ id, title, equipment }): ListedRule => {
    const origin = originOf(fileOf.get(id))
    return { id, title, equipment, origin, active: !inactive.has(id), findings: counts.get(id) ?? 0 }
  })
  return {
    query,
    part: partOf(rows.filter(matching(query)), page, ROWS_SHOWN),
    total: rows.length,
    active: rows.filter(row => row.active).length,
    own: rows.filter(row => row.origin !== 'shipped').length,
    types: EQUIPMENT_TYPES.filter(one => rows.some(row => row.equipment.includes(one))),
    broken: files.filter(isBroken),
    removed: await listRemovedRules({ rules, ruleVersions }),
  }
}

const isBroken = ({ errors }: RuleFileView): boolean => errors.length > 0

function matching(query: RuleQuery): (row: ListedRule) => boolean {
  const isAsked = ruleFilter(query)
  return row => {
    const { equipment, origin, active, findings } = row
    if (!isAsked(row, [...equipment, equipmentWords(equipment)])) return false
    switch (query.show) {
      case 'all':
        return true
      case 'found':
        return findings > 0
      case 'active':
        return active
      case 'inactive':
        return !active
      case 'shipped':
        return origin === 'shipped'
      case 'own':
        return origin !== 'shipped'
      case 'errors':
      case 'removed':
        return false
    }
  }
}

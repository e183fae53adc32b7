/** Rules: the list, and one of them with its condition and its thresholds. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { roleWords, unitLabel } from '#shared/central/ui/measure.ts'
import { strict } from '#shared/node/http/route.ts'
import { segment } from '../central-client.ts'
import { cell, clip, localInstant, pageText, table } from '../answer-text.ts'
import { LIST, rowLimit, tool } from '../tool.ts'
import type { RuleReply, RuleRow } from './replies.ts'

type RulePage = { rules: RuleRow[]; next_cursor?: string; errors: { filename: string; line: number; message: string }[] }

export const listRulesTool = tool({
  name: 'list_rules',
  title: 'Fault rules',
  effect: 'reads',
  description: 'The fault rules by id: what each finds, on which types of equipment, how urgent it is, and whether it is active.',
  input: strict(LIST),
  async answer({ limit, cursor }, client) {
    let broken: RulePage['errors'] = []
    const fetch = async (count: number) => {
      const { rules, next_cursor, errors } = await client.get<RulePage>('/api/fdd-rules', { limit: count, cursor })
      broken = errors
      return { items: rules, next_cursor }
    }
    const render = (rules: RuleRow[]) => {
      const rows = rules.map(({ id, title, kind, equipment, severity, active }) => {
        const of = equipment.join(', ')
        return [id, cell(title), kind, of, String(severity), active ? 'active' : 'switched off']
      })
      const problems = broken
        .slice(0, 20)
        .map(({ filename, line, message }) => `${cell(filename)}, line ${line}: ${cell(message)}`)
      const errors = problems.length > 0 ? `\n\nRule files that cannot be read:\n${problems.join('\n')}` : ''
      return table(['rule_id', 'what it finds', 'kind', 'equipment', 'severity', 'state'], rows) + errors
    }
    return pageText(fetch, render, rowLimit({ limit }))
  },
})

export const explainRuleTool = tool({
  name: 'explain_rule',
  title: 'How a rule decides',
  effect: 'reads',
  description:
    'One rule: its condition as written, what its names mean, when it applies, the points it needs, its thresholds with their bounds, and its source in the literature.',
  input: strict({ rule_id: Type.String({ ...ID, description: 'of list_rules' }) }),
  async answer({ rule_id }, client) {
    const { rule } = await client.get<{ rule: RuleReply }>(`/api/fdd-rules/${segment(rule_id)}`)
    return clip(ruleText(rule))
  },
})

function ruleText(rule: RuleReply): string {
  const { id, title, kind, severity, equipment, condition, lets, gate, roles, optional, params, source, active } = rule
  const roleLines = (listed: Record<string, unknown>) => Object.keys(listed).map(role => `- ${role} (${roleWords(role)})`)
  const changed =
    rule.changed_at === undefined ? '' : `, changed ${localInstant(rule.changed_at, 'UTC')} by ${cell(rule.changed_by)}`
  return [
    `${id}: ${title}`,
    `Kind ${kind}, severity ${severity} of 4 (1 is the most urgent), for ${equipment.join(', ')}. ${active ? 'Active' : 'Switched off'}${changed}.`,
    `Condition: ${condition}`,
    ...Object.entries(lets).map(([name, text]) => `  where ${name} is ${text}`),
    ...(gate === undefined ? [] : [`Looked at only while: ${gate}`]),
    'Points it needs:',
    ...roleLines(roles),
    ...(Object.keys(optional).length > 0 ? ['Points it also reads where they exist:', ...roleLines(optional)] : []),
    ...(Object.keys(params).length > 0 ? ['Thresholds, each with its default and bounds:'] : []),
    ...Object.entries(params).map(
      ([name, { default: value, min, max, unit }]) =>
        `- ${name}: ${value}, from ${min} to ${max}${unit === 'any' ? '' : ` ${unitLabel(unit)}`}`,
    ),
    `Source: ${source}`,
  ].join('\n')
}

/** `rules/README.md`: the rules by family, and which of them answers what others ask for. */
import { parse } from 'yaml'
import type { WrittenRule } from '#shared/core/rules/check/rule.ts'
import type { SharedReasons } from './rule-sources.ts'

export type Family = { title: string; rules: string[]; about: string }
/** One list that somebody published, row by row. */
type List = { title: string; rows: Row[] }
type Row = { row: string; rules: string[]; note?: string }

/** @throws Error that names the row without rules and without a reason */
export function readLists(text: string): List[] {
  const lists = parse(text) as {
    title: string
    rows: Record<string, string | { rules?: string; note?: string; none?: string }>
  }[]
  return lists.map(({ title, rows }) => ({
    title,
    rows: Object.entries(rows).map(([row, said]) => {
      const { rules = '', note, none, ...others } = typeof said === 'string' ? { rules: said } : said
      const [unknown] = Object.keys(others)
      if (unknown !== undefined) throw new Error(`${title}: ${row}: unknown key ${unknown} (a text with a comma wants quotes)`)
      if (!rules && !none) throw new Error(`${title}: ${row}: neither rules nor a reason`)
      return { row, rules: rules.split(/,\s*/).filter(Boolean), ...((note ?? none) && { note: note ?? none }) }
    }),
  }))
}

/** @throws Error when a rule belongs to no family or to two, or a list names a rule that is not there */
export function cataloguePage(
  rules: WrittenRule[],
  template: string,
  families: Family[],
  lists: List[],
  reasons: SharedReasons,
): string {
  for (const { id } of rules) {
    const own = families.filter(family => family.rules.some(pattern => fits(id, pattern)))
    if (own.length !== 1) throw new Error(`${id} belongs to ${own.length} families`)
  }
  for (const { title, rows } of lists) {
    for (const { row, rules: ids } of rows) {
      const stray = ids.find(pattern => !rules.some(({ id }) => fits(id, pattern)))
      if (stray) throw new Error(`${title}: ${row}: there is no rule ${stray}`)
    }
  }
  return template
    .replace('{{rules}}', () => families.map(family => familyText(family, rules)).join('\n\n'))
    .replace('{{lists}}', () => lists.map(listText).join('\n\n'))
    .replace('{{reasons}}', () => reasonsText(reasons))
}

const fits = (id: string, pattern: string): boolean =>
  pattern.endsWith('*') ? id.startsWith(pattern.slice(0, -1)) : id === pattern

function familyText({ title, rules: patterns, about }: Family, rules: WrittenRule[]): string {
  const own = patterns.flatMap(pattern => rules.filter(({ id }) => fits(id, pattern)).toSorted(byId))
  return [
    `### ${title}`,
    '',
    about.trim(),
    '',
    '| id | what it finds | of | kind | reads (and may read) | source |',
    '|---|---|---|---|---|---|',
    ...own.map(
      rule => `| ${rule.id} | ${rule.title} | ${rule.equipment.join(', ')} | ${rule.kind} | ${readsOf(rule)} | ${rule.source} |`,
    ),
  ].join('\n')
}

/** FC2 before FC10. */
const byId = (a: WrittenRule, b: WrittenRule): number => a.id.localeCompare(b.id, 'en', { numeric: true })

const EACH_WORDS = {
  any: 'every role',
  measured: 'every measured role',
  sensor: 'every sensor',
  commandable: 'every commandable point',
  set_point: 'every commandable set point',
}

function readsOf({ roles, optional, program, body }: WrittenRule): string {
  const text = JSON.stringify([body.let, body.gate, body.when, body.baseline])
  const elsewhere = (call: string, words: string) => [
    ...new Set([...text.matchAll(new RegExp(`\\b${call}\\((\\w+)`, 'g'))].map(([, role]) => `${role} of ${words}`)),
  ]
  const needed = [
    ...(program.each ? [EACH_WORDS[program.each.which]] : Object.keys(roles)),
    ...elsewhere('zones', 'what it feeds'),
    ...elsewhere('parent', 'what feeds it'),
  ].join(', ')
  const may = Object.keys(optional).join(', ')
  return may ? `${needed} (${may})`.trim() : needed
}

function listText({ title, rows }: List): string {
  const lines = rows.map(({ row, rules, note }) => {
    const ids = rules.join(', ')
    return `| ${row} | ${ids && note ? `${ids}: ${note}` : ids || `no rule: ${note}`} |`
  })
  return [`### ${title}`, '', '| asked for | rule, or why not |', '|---|---|', ...lines].join('\n')
}

function reasonsText(reasons: SharedReasons): string {
  const rows = Object.entries(reasons).map(([name, text]) => `| ${name} | ${text} |`)
  return ['| name | source |', '|---|---|', ...rows].join('\n')
}

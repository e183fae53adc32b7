/** The page of rightness: what the rules found in simulated buildings whose faults are known. */

/** One fault in one building, as the scorer of the simulator reports it. */
type ScoredFault = {
  fault: string
  /** 0 slight, 1 middling, 2 gross */
  level: number
  /** hours in which any point of the faulty unit differs visibly from the same unit without the fault */
  visible_h: number
  found: boolean
  right: boolean
  /** hours from the start of the fault to the confirmed finding, `null` when none was found */
  hours: number | null
}

type FalseFindings = { type: string; rule: string; findings: number; equipment: number; per_week: number }

/** The part of the scorer's `results.json` that the page shows. */
export type RightnessResults = {
  buildings: number
  equipment_weeks: Record<string, number>
  false_per_equipment_week: Record<string, number>
  healthy_equipment_without_any: Record<string, string>
  false_by_rule: FalseFindings[]
  faults: ScoredFault[]
}

/**
 * One measured set of buildings; `seeds` are those that were scored, ascending, `date` is the day of the last answer, `version`
 * what gave the answers, as `readVersion` gives it.
 */
export type RightnessSet = {
  title: string
  note: string
  seeds: number[]
  date: string
  version: string
  results: RightnessResults
}

const LEVELS = ['slight', 'middling', 'gross']
/** A fault that shows for fewer hours leaves too little data to be found; the scorer draws the same line. */
const VISIBLE_HOURS_MIN = 4

/** @returns the Markdown of `docs/rightness.md`. @param parts in their order: a measured set, or the part of a page that stays as it is */
export const rightnessPage = (parts: readonly (RightnessSet | string)[]): string =>
  `# Rightness

What the shipped rules find in buildings of an independent simulator, healthy and with one fault each, from the packages that it
writes. \`scripts/rightness.ts\` writes this page. A fault counts as found when a finding on the faulty equipment is confirmed after
the fault began, and as right when the heaviest cause of such a finding is the broken component. A finding is false on healthy
equipment and before the fault begins.

${parts.map(part => (typeof part === 'string' ? part : sectionOf(part))).join('\n')}`

/** @returns the part with this title of a page that `rightnessPage` wrote, or undefined when it has none */
export const findPart = (page: string, title: string): string | undefined =>
  page
    .split(/^(?=## )/m)
    .find(part => part.startsWith(`## ${title}\n`))
    ?.replace(/\n+$/, '\n')

const sectionOf = ({ title, note, seeds, date, version, results }: RightnessSet): string => {
  const visible = results.faults.filter(({ visible_h }) => visible_h >= VISIBLE_HOURS_MIN)
  const unseen = results.faults.length - visible.length
  return `## ${title}

${note}
${results.buildings} buildings, seeds ${rangesOf(seeds)}, measured on ${date} with version ${version}.
${summaryOf(visible)}
Faults that show for less than ${VISIBLE_HOURS_MIN} hours, which the tables leave out: ${unseen}.

${table(
  ['intensity', 'faults', 'found', 'right', 'median hours to detection'],
  LEVELS.map((name, level) => [name, ...countsOf(visible.filter(fault => fault.level === level))]),
)}
${table(['fault', 'intensity', 'faults', 'found', 'right', 'median hours to detection'], faultRows(visible))}
False findings on each type of equipment:

${table(
  ['equipment', 'equipment-weeks', 'false per equipment-week', 'healthy equipment without any'],
  Object.entries(results.equipment_weeks).map(([type, weeks]) => [
    type,
    weeks,
    results.false_per_equipment_week[type] ?? 0,
    results.healthy_equipment_without_any[type] ?? '',
  ]),
)}
${falseByRule(results.false_by_rule)}`
}

const falseByRule = (rows: FalseFindings[]): string => {
  if (rows.length === 0) return 'No rule has a false finding.\n'
  return table(
    ['rule', 'equipment', 'false findings', 'units with one', 'per equipment-week'],
    rows.map(({ rule, type, findings, equipment, per_week }) => [rule, type, findings, equipment, per_week]),
  )
}

const summaryOf = (visible: ScoredFault[]): string => {
  const [faults, found, right, hours] = countsOf(visible)
  return `Of ${faults} visible faults ${found} were found and ${right} named rightly; the median time to detection is ${hours} h.`
}

const faultRows = (visible: ScoredFault[]) =>
  [...Map.groupBy(visible, ({ fault, level }) => `${fault} ${level}`)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, group]) => [group[0]!.fault, LEVELS[group[0]!.level] ?? '', ...countsOf(group)])

const countsOf = (group: ScoredFault[]) =>
  [
    group.length,
    group.filter(({ found }) => found).length,
    group.filter(({ right }) => right).length,
    medianOf(group.flatMap(({ hours }) => hours ?? [])),
  ] as const

/** @returns the middle value, of an even number the mean of the two in the middle, or a dash when there is none */
function medianOf(values: number[]): string {
  if (values.length === 0) return '–'
  const sorted = values.toSorted((a, b) => a - b)
  const half = (sorted.length - 1) / 2
  return ((sorted[Math.floor(half)]! + sorted[Math.ceil(half)]!) / 2).toFixed(1)
}

/** `[1, 2, 3, 7]` as `1–3, 7`. */
const rangesOf = (seeds: number[]): string =>
  [...Map.groupBy(seeds.entries(), ([i, seed]) => seed - i).values()]
    .map(run => (run.length === 1 ? `${run[0]![1]}` : `${run[0]![1]}–${run.at(-1)![1]}`))
    .join(', ')

const table = (head: string[], rows: (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |\n`).join('')

/** Conditions of rules as people read them, and what the functions in them mean. */
import { nameTable } from '#shared/core/name-table.ts'
import { branchesOf } from '#shared/core/rules/language/branches.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { words } from '#shared/node/http/language.ts'

/**
 * A condition; one that depends on another is said in its parts.
 *
 * @param show a piece of it, by default as it is written
 */
export function conditionHtml(text: string, show: (piece: string) => Html | string = piece => piece): Html {
  const branches = branchesOf(text)
  if (!branches) return html`<code>${show(text)}</code>`
  const { when, first, otherwise } = branches
  return html`<code>${show(first)}</code> while <code>${show(when)}</code>, otherwise <code>${show(otherwise)}</code>`
}

/** Functions whose name does not say what they do; `c` is a condition, `a` a value, `w` a time. As LANGUAGE.md has them. */
const FUNCTION_WORDS = words(
  nameTable<[string, string]>({
    first: ['first(a, b)', 'the first of them that is known'],
    least: ['least(a, b)', 'the smallest of them'],
    greatest: ['greatest(a, b)', 'the largest of them'],
    if: ['if(c, a, b)', 'the first value while the condition holds, otherwise the second'],
    has: ['has(role)', 'whether the equipment has such a point'],
    nominal: ['nominal(role)', 'the usual time between two readings of the point'],
    lowest: ['lowest(role)', 'the lowest value that is plausible'],
    highest: ['highest(role)', 'the highest value that is plausible'],
    rests: ['rests(role)', 'whether such a value may stay the same for long'],
    age: ['age(role)', 'the time since the last usable reading'],
    parent: ['parent(role)', 'the value at the equipment that serves this one'],
    zones: ['zones(role, avg)', 'over all equipment that this one serves, here the mean'],
    staged: ['staged(a)', 'whether the output comes in stages'],
    scaled: ['scaled(a)', 'whether the output moves beyond one percent, and is no share of 0 to 1'],
    off_set_point: ['off_set_point(role)', 'how far the value is from the nearest set point'],
    avg: ['avg(a, w)', 'the mean over that time'],
    min: ['min(a, w)', 'the least in that time'],
    max: ['max(a, w)', 'the greatest in that time'],
    range: ['range(a, w)', 'the difference of greatest and least in that time'],
    median: ['median(a, w)', 'the middle value in that time'],
    percentile: ['percentile(a, w, 0.9)', 'the value that was above nine tenths of the others in that time'],
    delta: ['delta(a, w)', 'the change in that time'],
    lag: ['lag(a, w)', 'the value that time ago'],
    changes: ['changes(a, w)', 'how often the value changed in that time'],
    travel: ['travel(a, w)', 'the sum of all changes in that time'],
    reversals: ['reversals(a, w, d)', 'how often the direction turned in that time, by at least d'],
    duty: ['duty(c, w)', 'the share of that time in which the condition held'],
    held: ['held(c, w)', 'whether the condition held without a break for that time'],
    count: ['count(c, w)', 'how often the condition held in that time, each stretch once'],
    starts: ['starts(c, w)', 'how often the condition began in that time'],
    since: ['since(c)', 'the time since the condition last held'],
    sensors: ['sensors()', 'the number of sensors of the equipment'],
    silent_sensors: ['silent_sensors(w)', 'how many of them gave no value for that time'],
    coverage: ['coverage(a, w)', 'the share of that time in which the value was known'],
    cusum: ['cusum(a, s, w)', 'what came together above s in that time'],
    day_median: ['day_median(a)', 'the middle value of the day'],
    base: ['base(name)', 'what the past of the equipment makes one expect'],
    spread: ['spread(name)', 'how much that varied'],
    cold: ['cold(name)', 'whether there are too few days for that yet'],
    tolerance: ['tolerance(name, a)', 'the tolerance until there are enough days'],
    active_slot: ['active_slot(role)', 'the level of the priority array that counts'],
    overridden: ['overridden(role)', 'whether the point is overridden'],
    command: ['command(role)', 'the value of the level that counts'],
    slot: ['slot(role, n)', 'the value of that level'],
    commanded: ['commanded(role, n)', 'whether that level is set'],
    asked: ['asked(role)', 'the value that programs ask for'],
    relinquish_default: ['relinquish_default(role)', 'the value without any level'],
    writers: ['writers(role)', 'the number of levels that are set'],
    flips: ['flips(role, w)', 'how often another level counted than at the visit before'],
    override_days: ['override_days(role, w)', 'days in that time on which an override began'],
    asked_travel: ['asked_travel(role, w)', 'the sum of all changes that programs asked for'],
  }),
  '1',
)
const CALL = /\b([a-z_]+)\(/g

/** @returns the names of the functions in the texts, each once, in the order in which they are met */
export const functionsIn = (texts: readonly string[]): string[] => [
  ...new Set(texts.flatMap(text => Array.from(text.matchAll(CALL), ([, name]) => name!))),
]

/** What the functions in the texts mean, folded; nothing where there are none. */
export function functionsLegend(texts: readonly string[]): Html | false {
  const said = functionsIn(texts).flatMap(name => (FUNCTION_WORDS[name] ? [FUNCTION_WORDS[name]] : []))
  if (said.length === 0) return false
  return html`<details class="figures"><summary>What the functions mean</summary><dl class="values">${said.map(
    ([call, meaning]) => html`<div><dt><code>${call}</code></dt><dd>${meaning}</dd></div>`,
  )}</dl></details>`
}

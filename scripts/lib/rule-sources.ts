/** Whether every figure of a rule states where it comes from. */
import { parse } from 'yaml'
import { ruleFigures } from '#shared/core/rules/check/rule-figures.ts'
import type { WrittenRule } from '#shared/core/rules/check/rule.ts'

/** Reasons that many rules share, by name: `sources` may give the name in place of the text. */
export type SharedReasons = Record<string, string>

const JUDGEMENT = 'engineering judgement: '
/** Fewer words cannot say what is physical about a figure. */
const WORDS_MIN = 4

/** @throws Error that names the reason that is none */
export function readReasons(text: string): SharedReasons {
  const reasons = parse(text) as SharedReasons
  const poor = Object.keys(reasons).find(name => !isReason(reasons[name]))
  if (poor !== undefined) throw new Error(`${poor}: neither a standard or paper with clause or year, nor "${JUDGEMENT}…"`)
  return reasons
}

/**
 * A source is a standard or paper with its clause, number or year, or engineering judgement with the physical reason.
 *
 * @returns one line for each figure without a source, and for each source that is none
 */
export function sourceProblems({ body, filename, id }: WrittenRule, shared: SharedReasons): string[] {
  const sources = sourcesOf(body)
  return ruleFigures(body).flatMap(figure => {
    const text = sources.get(figure)
    if (text === undefined) return [`${filename}:1:1: ${id}: sources says nothing of ${figure}`]
    return text in shared || isReason(text) ? [] : [`${filename}:1:1: ${id}: sources: ${figure}: "${text}" is no source`]
  })
}

/** @returns one line for each source, with the figures that it covers */
export function sourceLines({ body }: WrittenRule, shared: SharedReasons): string[] {
  const sources = (body.sources ?? {}) as Record<string, unknown>
  return Object.entries(sources).map(([figures, text]) => `Source of ${figures}: ${shared[String(text)] ?? String(text)}.`)
}

/** Figure → what is said of it. */
function sourcesOf(body: WrittenRule['body']): Map<string, string> {
  const sources = (body.sources ?? {}) as Record<string, unknown>
  return new Map(
    Object.entries(sources).flatMap(([key, text]) => key.split(/,\s*/).map((figure): [string, string] => [figure, String(text)])),
  )
}

function isReason(text: string | undefined): boolean {
  if (text === undefined) return false
  if (text.startsWith(JUDGEMENT)) return text.slice(JUDGEMENT.length).split(' ').length >= WORDS_MIN
  return /\d/.test(text) && text.split(' ').length >= WORDS_MIN
}

/** The diagnosis of an economizer from its results, in one sentence. */
import type { EconomizerResult } from './economizer.ts'

export const VERDICTS = [
  'not_tellable',
  'contradicting',
  'not_following',
  'leaking',
  'restricted',
  'excess',
  'warm_air',
  'missed',
  'one_position',
  'following',
] as const
export type VerdictCode = (typeof VERDICTS)[number]
/** `sentence` has its temperatures in °C and K. */
export type EconomizerVerdict = { code: VerdictCode; sentence: string }

/** Identifiable hours that a diagnosis needs. */
const HOURS_LEAST = 4
const CONTRADICTING = 0.2
/** As in the rules AHU-OAF-SHUT (its leak and tolerance without history) and AHU-OAF-FULL. */
const LEAK = 0.25
const FULL = 0.6
/** A damper more than half open that passes less than half of what its position indicates does not open. */
const HALF = 0.5
const RATIO = 0.5
/** The damper does not affect the share when it moved from below 0.3 to above 0.7 and the share changed by less than this. */
const LOW = 0.3
const HIGH = 0.7
const FOLLOWS = 0.2
/**
 * Median difference between share and position beyond which outdoor air does not follow; the error of three sensors is 0.15
 * at most.
 */
const OFF = 0.25
/** Positions within a smaller range do not show whether outdoor air follows. */
const MOVED = 0.2
/**
 * Share of the hours above the high limit, or of free cooling, and number of hours, from which a wrong damper position is
 * reported.
 */
const OPEN_SHARE = 0.2
const OPEN_HOURS = 2

const percent = (share: number) => `${Math.round(share * 100)} %`
const hours = (n: number) => `${Number(n.toFixed(1))} h`

/** The first that applies, the most severe first: sensors before the damper, the damper before its control. */
export function economizerVerdict(result: EconomizerResult, params: { dt_min: number; high_limit: number }): EconomizerVerdict {
  const { identifiable } = result.hours
  if (identifiable < HOURS_LEAST) return { code: 'not_tellable', sentence: whyNot(result, params) }
  if (result.contradicting_hours > CONTRADICTING * identifiable) {
    const share = percent(result.contradicting_hours / identifiable)
    const sentence = `For ${share} of the time the mixed air is outside of what outdoor and return air can make: one of the three sensors is wrong.`
    return { code: 'contradicting', sentence }
  }
  const damper = responseOf(result) ?? leakOf(result) ?? fullOf(result) ?? offOf(result)
  return damper ?? warmOf(result, params) ?? missedOf(result) ?? followsOf(result)
}

function whyNot({ hours: spent }: EconomizerResult, { dt_min }: { dt_min: number }): string {
  const running = spent.identifiable + spent.settling + spent.moving + spent.small_difference
  if (running === 0 && spent.off > 0 && spent.no_data === 0) return 'The fan did not run, so there is no result.'
  const reasons: [number, string][] = [
    [spent.no_data, 'a needed value is missing'],
    [spent.small_difference, `outdoor and return air are closer than ${Number(dt_min.toFixed(1))} K`],
    [spent.moving, 'the damper moves too much'],
    [spent.settling, 'the fan has just started'],
  ]
  const [most, why] = reasons.toSorted(([a], [b]) => b - a)[0]!
  const because = most > 0 ? `, mostly because ${why}` : ''
  return `Too little data: ${hours(spent.identifiable)} of ${hours(running)} of running are identifiable${because}.`
}

function responseOf({ bins }: EconomizerResult): EconomizerVerdict | undefined {
  const low = meanOf(
    bins.filter(({ to }) => to <= LOW + 1e-9),
    'median',
  )
  const high = meanOf(
    bins.filter(({ from }) => from >= HIGH - 1e-9),
    'median',
  )
  if (low === undefined || high === undefined || high - low >= FOLLOWS) return undefined
  const sentence = `Outdoor air does not follow its damper: ${percent(low)} of the mixed air below a position of ${percent(LOW)}, ${percent(high)} above ${percent(HIGH)}.`
  return { code: 'not_following', sentence }
}

/** Mean over bins, weighted by their hours; undefined for less than an hour. */
function meanOf(bins: EconomizerResult['bins'], figure: 'median' | 'position'): number | undefined {
  const all = bins.reduce((sum, bin) => sum + bin.hours, 0)
  return all >= 1 ? bins.reduce((sum, bin) => sum + bin[figure] * bin.hours, 0) / all : undefined
}

const leakOf = ({ shut }: EconomizerResult): EconomizerVerdict | undefined =>
  shut && shut.median > LEAK
    ? { code: 'leaking', sentence: `The shut damper still lets in ${percent(shut.median)} of outdoor air.` }
    : undefined

function fullOf({ open, bins }: EconomizerResult): EconomizerVerdict | undefined {
  if (open && open.median < FULL) {
    return { code: 'restricted', sentence: `The wide-open damper lets in only ${percent(open.median)} of outdoor air.` }
  }
  const wide = bins.filter(({ from }) => from >= HALF - 1e-9)
  const share = meanOf(wide, 'median')
  const position = meanOf(wide, 'position')
  if (share === undefined || position === undefined || share >= RATIO * position) return undefined
  const sentence = `The damper, more than half open, lets in ${percent(share)} of outdoor air at a position of ${percent(position)}.`
  return { code: 'restricted', sentence }
}

function warmOf({ free_cooling }: EconomizerResult, { high_limit }: { high_limit: number }): EconomizerVerdict | undefined {
  const { above_limit_hours: above, above_limit_open_hours: open } = free_cooling
  if (open < OPEN_HOURS || open < OPEN_SHARE * above) return undefined
  const sentence = `Outdoor air above ${Number(high_limit.toFixed(1))} °C was let in for ${hours(open)} of ${hours(above)}.`
  return { code: 'warm_air', sentence }
}

function offOf({ residuals }: EconomizerResult): EconomizerVerdict | undefined {
  const off = residuals!.median
  if (Math.abs(off) <= OFF) return undefined
  const share = percent(Math.abs(off))
  return off < 0
    ? { code: 'restricted', sentence: `The damper lets in ${share} less of outdoor air than its position says.` }
    : { code: 'excess', sentence: `The damper lets in ${share} more of outdoor air than its position says.` }
}

function missedOf({ free_cooling }: EconomizerResult): EconomizerVerdict | undefined {
  const { suitable_hours: suitable, missed_hours: missed } = free_cooling
  if (missed < OPEN_HOURS || missed < OPEN_SHARE * suitable) return undefined
  const sentence = `Outdoor air would have cooled for ${hours(suitable)}; for ${hours(missed)} of them the cooling valve was open and the damper less than half.`
  return { code: 'missed', sentence }
}

function followsOf({ residuals, bins, hours: spent }: EconomizerResult): EconomizerVerdict {
  const off = residuals!.median
  const share = percent(Math.abs(off))
  const isLess = off < 0
  const positions = bins.map(({ position }) => position)
  const [least, most] = [Math.min(...positions), Math.max(...positions)]
  if (most - least < MOVED) {
    const where = percent(least) === percent(most) ? percent(most) : `${percent(least)} to ${percent(most)}`
    const sentence = isLess
      ? `The damper was always at ${where}: there it lets in ${share} less of outdoor air than its position indicates; whether outdoor air follows the damper is not known.`
      : `The damper was always at ${where}: there it lets in ${share} more of outdoor air than its position indicates; whether outdoor air follows the damper is not known.`
    return { code: 'one_position', sentence }
  }
  const median = hours(spent.identifiable)
  const sentence = isLess
    ? `Outdoor air follows its damper: ${share} less than its position says, as the median of ${median}.`
    : `Outdoor air follows its damper: ${share} more than its position says, as the median of ${median}.`
  return { code: 'following', sentence }
}

/** Judges what rules said of a day against what was true of it. */
import type { CauseWeight, FindingKind } from '#shared/core/findings/finding.ts'
import type { Label } from './labelled.ts'

/** Result of a run for one equipment and one day. */
export type DayReport = { active: { rule_id: string; kind: FindingKind; fault_secs: number }[]; cause: CauseWeight[] }
export type Verdict = Label & {
  faulty: boolean
  /** Whether at least one equipment fault was active. */
  alarm: boolean
  /** Component that the day's rules accuse first. */
  accused: string | undefined
  right: boolean
  rule_ids: string[]
}
export type Score = { found: number; faulty: number; false: number; normal: number; right: number }

/** Names of components in the labels, and in rules; all others are the same in both. */
const COMPONENTS: Record<string, string> = {
  hcv: 'heating_valve',
  ccv: 'cooling_valve',
  oad: 'outdoor_air_damper',
  'heat recovery wheel': 'heat_recovery',
}
/** These speak of data and of people, not of equipment. */
const NO_EQUIPMENT: readonly FindingKind[] = ['data', 'override']
/**
 * All that these have is a fan at full speed, a high pressure, a run at night or a set point that rests: true, and no
 * proof of any fault.
 */
export const NO_CREDIT: readonly string[] = [
  'AHU-FC1-STATIC-LOW',
  'AHU-STATIC-HIGH',
  'AHU-UNOCCUPIED-RUN',
  'AHU-ALWAYS-ON',
  'AHU-EARLY-START',
  'AHU-SAT-NO-RESET',
  'AHU-STATIC-NO-RESET',
]
/** A day counts by its own evidence: a fault that merely was not cleared yet adds less than this. */
const DAY_SECS = 30 * 60

export function judge(label: Label, { active, cause }: DayReport): Verdict {
  const counting = active.filter(
    ({ rule_id, kind, fault_secs }) => fault_secs >= DAY_SECS && !NO_EQUIPMENT.includes(kind) && !NO_CREDIT.includes(rule_id),
  )
  const alarm = counting.length > 0
  const accused = alarm ? cause[0]?.component : undefined
  const faulty = label.component !== 'normal'
  const right = faulty && accused === (COMPONENTS[label.component] ?? label.component)
  return { ...label, faulty, alarm, accused, right, rule_ids: counting.map(({ rule_id }) => rule_id).toSorted() }
}

export function scoreOf(verdicts: Verdict[]): Score {
  const count = (holds: (verdict: Verdict) => boolean) => verdicts.filter(holds).length
  return {
    found: count(({ faulty, alarm }) => faulty && alarm),
    faulty: count(({ faulty }) => faulty),
    false: count(({ faulty, alarm }) => !faulty && alarm),
    normal: count(({ faulty }) => !faulty),
    right: count(({ right }) => right),
  }
}

/** @returns a line for a day that was missed, accused the wrong component or was normal; undefined for one judged right */
export function complaintOf({
  file,
  date,
  minutes,
  component,
  faulty,
  alarm,
  accused,
  right,
  rule_ids,
}: Verdict): string | undefined {
  if (faulty ? right : !alarm) return undefined
  const what = !faulty ? 'false' : alarm ? `wrong, ${accused ?? 'nothing'} accused` : 'missed'
  const when = minutes ? `${date} ${clockOf(minutes[0])}` : date
  return `${file} ${when} ${component}: ${what}${rule_ids.length ? ` (${rule_ids.join(', ')})` : ''}`
}

const clockOf = (minute: number): string =>
  [Math.floor(minute / 60), minute % 60].map(part => String(part).padStart(2, '0')).join(':')

/** A run that resumes from an earlier one has the same result, byte for byte, as a run over all of history. */
import test from 'ava'
import fc from 'fast-check'
import type { RunOutput } from '#shared/core/rules/evaluate/run-types.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { dayStart, nextDay } from '#shared/core/time-zone.ts'
import { RULES, ZONE_RULES } from '../../../../support/rules/all-kinds.ts'
import { chainOf, type Dice, diceOf, type Plan, type Setting, wholeRun, worldOf } from '../../../../support/rules/world.ts'

const PLAN: Plan = {
  'ahu-1': { type: 'ahu', roles: ['sa_t', 'ma_t', 'oa_damper*', 'fan_status'], feeds: ['vav-1', 'vav-2'] },
  'vav-1': { type: 'vav', roles: ['zone_t'] },
  'vav-2': { type: 'vav', roles: ['zone_t', 'damper'] },
  wx: { type: 'weather', roles: ['wx_oa_t'] },
}
/** Days of 23, 24 and 25 hours. */
const STARTS: [timezone: string, from: number][] = [
  ['UTC', Date.UTC(2026, 2, 2, 5, 12)],
  ['Europe/Berlin', Date.UTC(2026, 2, 27, 9, 30)],
  ['America/New_York', Date.UTC(2026, 9, 30, 22, 7)],
  ['Australia/Lord_Howe', Date.UTC(2026, 3, 3, 1, 0)],
]

const text = (output: RunOutput) => JSON.stringify(output)

/** The first part of two outputs that differs, for people. */
function difference(chained: RunOutput, whole: RunOutput): string {
  for (const key of ['findings', 'results', 'days', 'baselines', 'failed'] as const) {
    const [a, b] = [chained[key], whole[key]]
    const at = Array.from({ length: Math.max(a.length, b.length) }, (_, i) => i).find(
      i => JSON.stringify(a[i]) !== JSON.stringify(b[i]),
    )
    if (at !== undefined) return `${key}[${at}]\nchained ${JSON.stringify(a[at])}\nwhole   ${JSON.stringify(b[at])}`
  }
  return ''
}

const seen = { resumed: 0, outdated: 0, findings: new Set<string>() }

/** Runs at any instants, most of them within the same days; the span may begin later from run to run. */
function compare(setting: Setting, runs: number): string {
  const { world, dice } = setting
  const chain = chainOf(setting)
  const nows = Array.from({ length: runs }, () => nowOf(setting, dice)).toSorted((a, b) => a - b)
  let { from } = world
  for (const now of nows) {
    if (dice.chance(0.3)) from = Math.max(from, laterFrom(from, now, world.timezone, dice))
    const chained = chain.runTo(now, from)
    const whole = wholeRun(setting, now, from)
    for (const { rule_id } of whole.findings) seen.findings.add(rule_id)
    if (text(chained) !== text(whole)) return `run to ${new Date(now).toISOString()}: ${difference(chained, whole)}`
  }
  seen.resumed += chain.counts.resumed
  seen.outdated += chain.counts.outdated
  return ''
}

function nowOf({ world: { from, to, timezone } }: Setting, dice: Dice): number {
  const now = from + HOUR + Math.floor((dice.share() * (to - from - HOUR)) / MINUTE) * MINUTE
  return dice.chance(0.1) ? Math.max(from + HOUR, dayStart(now, timezone)) : now
}

function laterFrom(from: number, now: number, timezone: string, dice: Dice): number {
  let at = from
  for (let days = dice.below(3); days > 0 && nextDay(at, timezone) < now; days--) at = nextDay(at, timezone)
  return at
}

test('a run that goes on says what one over all of it says, whatever comes late', t => {
  fc.assert(
    fc.property(fc.integer(), fc.constantFrom(...STARTS), (seed, [timezone, from]) => {
      const dice = diceOf(seed)
      const rules = [...RULES, ...ZONE_RULES].filter(() => dice.chance(0.5))
      const problem = compare({ world: worldOf(PLAN, timezone, from, 6, dice), rules, dice }, 6)
      if (problem) throw new Error(problem)
    }),
    { numRuns: 20, endOnFailure: true },
  )
  t.true(seen.resumed > 100)
  t.true(seen.findings.size > 10)
})

/** How the box and its building are, in a sentence or two: the first words of Home. */
import { PRIORITIES } from '#shared/core/findings/finding.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { OpenCounts } from '#shared/central/pages/faults/open-counts.ts'
import { type Together, wasteADay } from '#shared/central/ui/cost-words.ts'
import { formatAge } from '#shared/central/ui/moment.ts'
import { formatDuration } from '#shared/core/time.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

export type Health = {
  /** Since when readings cannot be stored; null while they are. */
  unstored_since: number | null
  open: OpenCounts
  waste: readonly Together[]
  /** Devices that do not answer, and overrides that have lasted for more than a day. */
  silent: number
  aged: number
  /** When the last check for faults ended; null before the first. */
  checked_at: number | null
  now: number
}

/** @returns `3 faults are open and waste about 120 kWh a day; 1 device is silent. All else was checked 12 min ago.` */
export function healthSentence({ unstored_since, open, waste, silent, aged, checked_at, now }: Health): Html {
  const total = PRIORITIES.reduce((sum, priority) => sum + open[priority], 0)
  const troubles = [
    ...(unstored_since === null ? [] : [unstoredText(unstored_since, now)]),
    ...(total > 0 ? [openText(total, wasteADay(waste))] : []),
    ...(silent > 0 ? [silentText(silent)] : []),
    ...(aged > 0 ? [agedText(aged)] : []),
  ]
  const isWell = troubles.length === 0
  const first = isWell ? (checked_at === null ? say`Nothing is known to be wrong` : say`Nothing needs you`) : troubles.join('; ')
  return html`<strong>${first}.</strong> ${checkedText(checked_at, isWell, now)}`
}

/** The page System says why. */
function unstoredText(since: number, now: number): string {
  const forText = formatDuration(Math.max(0, now - since))
  return say`Readings have not been stored for ${forText} (see the page System)`
}

function openText(count: number, wasted: string | undefined): string {
  const faults = sayCountOf(count, 'fault')
  if (wasted)
    return count === 1 ? say`${faults} is open, with a waste of ${wasted}` : say`${faults} are open, with a waste of ${wasted}`
  return count === 1 ? say`${faults} is open` : say`${faults} are open`
}

function silentText(count: number): string {
  const devices = sayCountOf(count, 'device')
  return count === 1 ? say`${devices} is silent` : say`${devices} are silent`
}

function agedText(count: number): string {
  const overrides = sayCountOf(count, 'override')
  return count === 1 ? say`${overrides} is older than a day` : say`${overrides} are older than a day`
}

function checkedText(checked_at: number | null, isWell: boolean, now: number): string {
  if (checked_at === null) return say`No check for faults has finished yet.`
  const age = formatAge(checked_at, now)
  return isWell ? say`Everything was checked ${age}.` : say`All else was checked ${age}.`
}

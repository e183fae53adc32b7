/** How the box and its building are, in a sentence or two: the first words of Home. */
import { PRIORITIES } from '#shared/core/findings/finding.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { OpenCounts } from '#shared/central/pages/faults/fault-list.ts'
import { type Together, wasteADay } from '#shared/central/ui/cost-words.ts'
import { formatAge } from '#shared/central/ui/moment.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

export type Health = {
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
export function healthSentence({ open, waste, silent, aged, checked_at, now }: Health): Html {
  const total = PRIORITIES.reduce((sum, priority) => sum + open[priority], 0)
  const wasted = wasteADay(waste)
  const are = (count: number, noun: string, more: string) =>
    count > 0 ? [`${sayCountOf(count, noun)} ${count === 1 ? say`is` : say`are`} ${more}`] : []
  const troubles = [
    ...are(total, 'fault', wasted ? say`open, with a waste of ${wasted}` : say`open`),
    ...are(silent, 'device', say`silent`),
    ...are(aged, 'override', say`older than a day`),
  ]
  const isWell = troubles.length === 0
  const first = isWell ? (checked_at === null ? say`Nothing is known to be wrong` : say`Nothing needs you`) : troubles.join('; ')
  const checked =
    checked_at === null ? '' : say`${isWell ? say`Everything` : say`All else`} was checked ${formatAge(checked_at, now)}.`
  return html`<strong>${first}.</strong> ${checked || say`No check for faults has finished yet.`}`
}

/** Parts of the page of one building: its health in a sentence, faults by equipment and day, and overrides by age. */
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Equipment } from '#shared/core/model/model.ts'
import { DAY, formatDuration } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { LastCheck } from '#shared/central/fdd/rule-owner.ts'
import { DEFAULT_QUERY, faultsHref } from '#shared/central/pages/faults/fault-list.ts'
import { wasteADay } from '#shared/central/ui/cost-words.ts'
import { dayMap } from '#shared/central/ui/day-map.ts'
import { EQUIPMENT_WORDS } from '#shared/central/ui/equipment-words.ts'
import { equipmentLink, findingHref } from '#shared/central/ui/links.ts'
import { formatAge, type Here, momentAge } from '#shared/central/ui/moment.ts'
import { titleOf } from '#shared/central/ui/words.ts'
import { type BuildingHistory, MAP_DAYS } from './building-model.ts'
import { currentLanguage, say, sayCount, sayCountOf } from '#shared/node/http/language.ts'

/** Rows of the map, and overrides that are named; the list of faults has all. */
const ROWS_SHOWN = 12
const OVERRIDES_SHOWN = 6

type Health = Pick<BuildingHistory, 'waste' | 'wasters'> & {
  open: number
  checked: LastCheck
  now: number
}

/** @returns `2 air handlers waste about 120 kWh a day; all else was checked 12 min ago.` */
export function buildingHealth({ waste, wasters, open, checked: { at, isOfBox }, now }: Health): string {
  if (at === null) {
    if (open > 0) return say`${sayCountOf(open, 'fault')} open.`
    return isOfBox ? say`Its box looks for faults and has reported none.` : say`Nobody has looked for faults yet.`
  }
  const checked = say`was checked ${formatAge(at, now)}.`
  if (open === 0) return say`Nothing is in fault; everything ${checked}`
  const wasted = waste && wasteADay([waste])
  const faults = say`${sayCountOf(open, 'fault')} ${open === 1 ? say`is` : say`are`} open`
  const first = wasted ? `${kindWords(wasters)} ${wasters.length === 1 ? say`wastes` : say`waste`} ${wasted}` : faults
  return say`${first}; all else ${checked}`
}

/** @returns `2 air handlers`, or `3 pieces of equipment` of several kinds */
function kindWords(equipment: readonly Equipment[]): string {
  const [first] = new Set(equipment.map(({ equipment_type }) => equipment_type))
  const isOneKind = first !== undefined && equipment.every(({ equipment_type }) => equipment_type === first)
  if (!isOneKind) return say`${sayCountOf(equipment.length, 'piece')} of equipment`
  const [one, many] = EQUIPMENT_WORDS[first]
  const words = equipment.length === 1 ? one : many
  // German nouns have a capital within a sentence too.
  return `${equipment.length} ${words.startsWith('VAV') || currentLanguage() !== 'en' ? words : words.toLowerCase()}`
}

/** The equipment that was in fault the longest, by day. */
export function faultMap({ days, rows, cut }: BuildingHistory, building_id: string, timezone: string): Html {
  const href = (equipment_id: string) =>
    faultsHref({ ...DEFAULT_QUERY, building: building_id, equipment: equipment_id, days: MAP_DAYS })
  const shown = rows.slice(0, ROWS_SHOWN).map(({ equipment, shares, inFaultMs, daysInFault }) => ({
    title: equipmentLink(equipment, equipment.name),
    shares,
    words: html`<a href="${href(equipment.equipment_id)}">in fault ${formatDuration(inFaultMs)} on ${sayCountOf(daysInFault, 'day')}</a>`,
  }))
  const all = faultsHref({ ...DEFAULT_QUERY, building: building_id, days: MAP_DAYS, group: 'equipment' })
  return html`<section class="card" id="map"><h2>Faults by day</h2>
${cut !== undefined && html`<p class="notice">Only the newest ${sayCount(cut)} episodes are counted.</p>`}
${shown.length > 0 ? dayMap({ days, timezone, rows: shown }) : html`<p>No equipment was in fault within ${MAP_DAYS} days.</p>`}
${rows.length > shown.length && html`<p><a href="${all}">and ${sayCountOf(rows.length - shown.length, 'other')}</a></p>`}</section>`
}

/** Overrides that last, the oldest first, with how many are how old. */
export function overridesByAge(
  overrides: readonly Finding[],
  building_id: string,
  nameOf: (equipment_id: string) => string,
  here: Here,
): Html {
  const ages = [
    [say`of more than 30 days`, 30 * DAY, Infinity],
    [say`of more than a week`, 7 * DAY, 30 * DAY],
    [say`of more than a day`, DAY, 7 * DAY],
    [say`of today`, -Infinity, DAY],
  ] as const
  const counted = ages.flatMap(([words, from, to]) => {
    const count = overrides.filter(one => here.now - one.from > from && here.now - one.from <= to).length
    return count > 0 ? [`${count} ${words}`] : []
  })
  const all = faultsHref({ ...DEFAULT_QUERY, lane: 'overrides', building: building_id, state: 'active' })
  return html`<section class="card" id="overrides"><h2>Overrides</h2>
${
  overrides.length === 0
    ? html`<p>No override is known to last.</p>`
    : html`<p><a href="${all}">${sayCountOf(overrides.length, 'override')}</a>: ${counted.join(', ')}.</p>
<ul class="log">${overrides
        .slice(0, OVERRIDES_SHOWN)
        .map(
          finding =>
            html`<li><a href="${findingHref(finding.finding_id)}">${titleOf(finding)}</a> <span class="muted">${nameOf(finding.equipment_id)}, since ${momentAge(finding.from, here)}</span></li>`,
        )}</ul>`
}</section>`
}

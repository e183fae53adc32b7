/** The part of a fault's page that says what it costs, on what that rests, and what is missing to say it. */
import type { Finding } from '#shared/core/findings/finding.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { PricingGap } from '#shared/core/impact/impact.ts'
import type { Building, Equipment } from '#shared/core/model/model.ts'
import { aboutText, CARRIER_WORDS, costText, gapText, kindWords, rangeText } from '#shared/central/ui/cost-words.ts'
import { say, sayMade } from '#shared/node/http/language.ts'

type CostModel = { finding: Finding; building: Building; equipment: Equipment | undefined }

/** Nothing where the rule says nothing of its cost. */
export function costSection({ finding, building, equipment }: CostModel): Html | false {
  const { impact, not_priced: gaps = [], waste } = finding
  if (!impact && gaps.length === 0) return false
  const { unit_system } = building
  const name = (equipment_id: string) =>
    equipment_id === finding.equipment_id ? (equipment?.name ?? equipment_id) : equipment_id
  const range = impact && rangeText(impact, impact.unit, unit_system)
  return html`<section class="card" id="cost"><h2>What it costs</h2>
${
  impact &&
  html`<p><strong>${asStart(aboutText(impact, unit_system))}</strong>${finding.to === null && say` so far`}: ${kindWords(impact)}.
${range && say`Should every assumption be off at once: ${range}.`}</p>
${
  impact.energy.length > 0 &&
  html`<dl class="values">${impact.energy.map(
    one =>
      html`<div><dt>${CARRIER_WORDS[one.carrier]}</dt><dd>${costText({ mid: one.mid, unit: 'kWh' }, unit_system)} <span class="muted">${rangeText(one, 'kWh', unit_system)}</span></dd></div>`,
  )}</dl>`
}
${impact.basis.length > 0 && html`<details class="figures"><summary>What this rests on</summary><ul>${impact.basis.map(line => html`<li>${sayMade(line)}</li>`)}</ul></details>`}`
}
${
  gaps.length > 0 &&
  html`<p>${impact ? say`No money is said, for want of:` : say`Not priced, for want of:`}</p><ul>${gaps.map(
    gap =>
      html`<li>${gapText(gap, name)}${waste !== undefined && mendable(gap) && html` <a href="${hrefOf(gap, building)}">${gap.what === 'price' ? say`Set it` : say`Enter or review it`}</a>`}</li>`,
  )}</ul>
${waste === undefined && gaps.some(mendable) && html`<p class="muted">It is entered on the box that looks for faults in this building.</p>`}`
}
</section>`
}

const mendable = ({ what }: PricingGap): boolean => what === 'price' || what === 'quantity'

function hrefOf(gap: PricingGap, { building_id }: Building): string {
  if (gap.what === 'price') return `/quantities?${new URLSearchParams({ building: building_id })}#prices`
  const { equipment_id, name } = gap
  return `/quantities?${new URLSearchParams({ building: building_id, equipment: equipment_id, property: name })}#enter`
}

const asStart = (words: string): string => words.slice(0, 1).toUpperCase() + words.slice(1)

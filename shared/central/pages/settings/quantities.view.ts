/** The page of engineering quantities: ratings and prices, who has looked at them, and what faults still lack. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { EnergyPrices, PricingGap } from '#shared/core/impact/impact.ts'
import { BASIS_WIDTH } from '#shared/core/impact/range.ts'
import type { Building, Equipment } from '#shared/core/model/model.ts'
import {
  mayReview,
  type Quantity,
  QUANTITY_PROPERTIES,
  readQuantity,
  REVIEW_STATUSES,
  statedText,
  UNITS_OFFERED,
  VALUE_BASES,
} from '#shared/core/model/quantity.ts'
import { SOURCE_MAX } from '#shared/central/commands/quantities.ts'
import { CARRIER_WORDS, gapReason, propertyWords } from '#shared/central/ui/cost-words.ts'
import { csrfField, type User } from '#shared/central/ui/frame.ts'
import { settingButton } from '#shared/central/ui/setting-button.ts'
import { type RuleOwner, ruleOwnerNotice } from '#shared/central/ui/words.ts'
import { say, words } from '#shared/node/http/language.ts'

export type QuantitiesModel = {
  /** All of the site, for the choice; the page is of one. */
  buildings: Building[]
  building: Building | undefined
  equipment: Equipment[]
  /** The appliance that runs the building's rules itself, where this process does not. */
  ruleOwner: RuleOwner | undefined
  quantities: Quantity[]
  prices: EnergyPrices | undefined
  /** Quantities that recent faults lack, each with the number of faults. */
  wanted: { gap: PricingGap & { what: 'quantity' }; faults: number }[]
  /** Initial values of the form. */
  begin: { equipment?: string; property?: string; quantity?: Quantity }
  user: User | undefined
  csrf: string
}

const STATUS_WORDS = words({ NeedsReview: 'needs review', Reviewed: 'reviewed', Rejected: 'rejected' } as const)
const REVIEW_VERBS = words({ NeedsReview: 'Open again', Reviewed: 'Accept', Rejected: 'Reject' } as const)
const BASIS_WORDS = words({
  Measured: 'measured on site',
  TAB: 'balancing report (TAB)',
  Rated: 'rating plate or data sheet',
  Design: 'design document',
  Assumed: 'assumed',
} as const)

export function quantitiesBody(model: QuantitiesModel): Html {
  const { building } = model
  if (!building) return html`<h1>Quantities</h1><section class="card"><p>No building is known yet.</p></section>`
  return html`<h1>Quantities</h1>
<p class="lead">Sizes, ratings and prices with which faults are priced. Only reviewed ones count.</p>
${model.buildings.length > 1 && buildingForm(model, building)}
${ruleOwnerNotice(building.name, model.ruleOwner)}
${wantedSection(model, building)}
${listSection(model, building)}
<div class="columns"><div>${enterSection(model, building)}</div><div>${priceSection(model, building)}</div></div>`
}

const buildingForm = ({ buildings }: QuantitiesModel, chosen: Building): Html =>
  html`<form class="filter" method="get" action="/quantities" data-submit-on-change><label>Building <select name="building">${buildings.map(
    ({ building_id, name }) =>
      html`<option value="${building_id}"${building_id === chosen.building_id && html` selected`}>${name}</option>`,
  )}</select></label><button>Show</button></form>`

const nameOf = ({ equipment }: QuantitiesModel, equipment_id: string | undefined): string =>
  equipment_id === undefined
    ? say`the whole building`
    : equipment.find(one => one.equipment_id === equipment_id)?.name || equipment_id

function wantedSection(model: QuantitiesModel, { building_id }: Building): Html | false {
  const { wanted } = model
  return (
    wanted.length > 0 &&
    html`<section class="card"><h2>Faults wait for these</h2><ul>${wanted.map(({ gap, faults }) => {
      const at = new URLSearchParams({ building: building_id, equipment: gap.equipment_id, property: gap.name })
      return html`<li><a href="/quantities?${at}#enter">${propertyWords(gap.name)} of ${nameOf(model, gap.equipment_id)}</a> <span class="muted">${gapReason(gap.why)}; ${faults === 1 ? say`1 fault` : say`${faults} faults`} of the last 30 days</span></li>`
    })}</ul></section>`
  )
}

function listSection(model: QuantitiesModel, building: Building): Html {
  const { quantities } = model
  if (quantities.length === 0) return html`<section class="card"><h2>Nothing is entered yet</h2></section>`
  return html`<table class="inputs quantities"><thead><tr><th scope="col">Equipment</th><th scope="col">Quantity</th><th scope="col">Value</th><th scope="col">Known from</th><th scope="col">Review</th></tr></thead>
<tbody>${quantities.map(quantity => quantityRow(quantity, model, building))}</tbody></table>`
}

function quantityRow(quantity: Quantity, model: QuantitiesModel, building: Building): Html {
  const { quantity_id, equipment_id, property, value_basis, source_type, source_reference } = quantity
  const read = readQuantity(quantity)
  const at = new URLSearchParams({ building: building.building_id, quantity: quantity_id })
  return html`<tr>
<td data-label="Equipment"><div>${nameOf(model, equipment_id)}</div></td>
<td data-label="Quantity"><div>${propertyWords(property)} <span class="muted">${property}</span></div></td>
<td data-label="Value"><div>${statedText(quantity)}${'fault' in read && html` <strong class="fault">${read.fault}</strong>`}</div></td>
<td data-label="Known from"><div>${BASIS_WORDS[value_basis]}, ±${Math.round(BASIS_WIDTH[value_basis] * 100)} % <span class="muted">${source_type}${source_reference !== undefined && html`, ${source_reference}`}</span></div></td>
<td data-label="Review"><div>${reviewForm(quantity, model)} <a href="/quantities?${at}#enter">Correct</a></div></td>
</tr>`
}

function reviewForm(
  { quantity_id, review_status: now = 'NeedsReview' }: Quantity,
  { user, ruleOwner, csrf }: QuantitiesModel,
): Html {
  const next = REVIEW_STATUSES.filter(status => status !== now && mayReview(now, status))
  return html`<span>${STATUS_WORDS[now]}</span> ${
    user?.mayOperate === true &&
    ruleOwner === undefined &&
    html`<form method="post" action="/quantities/review">${csrfField(csrf)}<input type="hidden" name="quantity_id" value="${quantity_id}">${next.map(
      status => html`<button name="review_status" value="${status}">${REVIEW_VERBS[status]}</button>`,
    )}</form>`
  }`
}

function enterSection(model: QuantitiesModel, { building_id }: Building): Html {
  const { begin, equipment, user, csrf } = model
  const known = begin.quantity
  const chosen = known ? known.equipment_id : begin.equipment
  const property = known?.property ?? begin.property
  const unit = known?.unit_code ?? UNITS_OFFERED[property as Quantity['property']]?.[0]
  const units = [...new Set([...(unit === undefined ? [] : [unit]), ...QUANTITY_PROPERTIES.flatMap(one => UNITS_OFFERED[one])])]
  return html`<section class="card" id="enter"><h2>${known ? say`Correct a quantity` : say`Enter a quantity`}</h2>
<form class="fields" method="post" action="/quantities">${csrfField(csrf)}<fieldset${(user?.mayOperate !== true || model.ruleOwner !== undefined) && html` disabled`}>
<input type="hidden" name="building_id" value="${building_id}">
${known && html`<input type="hidden" name="quantity_id" value="${known.quantity_id}">`}
<label>Equipment <select name="equipment_id"><option value="">the whole building</option>${equipment.map(
    one =>
      html`<option value="${one.equipment_id}"${one.equipment_id === chosen && html` selected`}>${one.name || one.equipment_id}</option>`,
  )}</select></label>
<label>Quantity <select name="property">${QUANTITY_PROPERTIES.map(
    one => html`<option value="${one}"${one === property && html` selected`}>${propertyWords(one)}</option>`,
  )}</select></label>
<label>Value <input name="numeric_value" type="number" step="any" min="0" required${known && html` value="${known.numeric_value}"`}></label>
<label>Unit <select name="unit_code">${units.map(one => html`<option${one === unit && html` selected`}>${one}</option>`)}</select></label>
<label>Known from <select name="value_basis">${VALUE_BASES.map(
    one => html`<option value="${one}"${one === known?.value_basis && html` selected`}>${BASIS_WORDS[one]}</option>`,
  )}</select></label>
<label>Source <input name="source_type" maxlength="${SOURCE_MAX}" required placeholder="rating plate, report, drawing"${known && html` value="${known.source_type}"`}></label>
<p class="muted">It waits for review before it counts. Ratios without a unit, such as a COP, have the unit 1.</p>
${settingButton(model, 'enter-why', known ? say`Save` : say`Enter`)}
</fieldset></form></section>`
}

const priceSection = ({ prices, user, ruleOwner, csrf }: QuantitiesModel, { building_id }: Building): Html => {
  const field = (carrier: 'electricity' | 'fuel') =>
    html`<label>${CARRIER_WORDS[carrier]}, per kWh <input name="${carrier}" type="number" step="any" min="0"${prices?.[carrier] !== undefined && html` value="${prices[carrier]}"`}></label>`
  return html`<section class="card" id="prices"><h2>Prices of energy</h2>
<form class="fields" method="post" action="/quantities/prices">${csrfField(csrf)}<fieldset${(user?.mayOperate !== true || ruleOwner !== undefined) && html` disabled`}>
<input type="hidden" name="building_id" value="${building_id}">
<label>Currency <input name="currency" required pattern="[A-Z]{3}" maxlength="3" placeholder="EUR" value="${prices?.currency}"></label>
${field('electricity')}${field('fuel')}
<p class="muted">What is left blank has no price: then faults say kilowatt-hours.</p>
${settingButton({ user, ruleOwner }, 'price-why', say`Set the prices`)}
</fieldset></form></section>`
}

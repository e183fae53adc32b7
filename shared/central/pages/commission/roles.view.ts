/** The page that accepts suggested roles for a whole building at once. */
import type { Building } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { LIKELY } from '#shared/flow/commission.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField, operatorButton, type User } from '#shared/central/ui/frame.ts'
import { equipmentLink, pointHref } from '#shared/central/ui/links.ts'
import { unitLabel } from '#shared/central/ui/measure.ts'
import { componentWords, shareOf } from '#shared/central/ui/words.ts'
import { COMMISSION_PATH, commissionCrumbs, commissionHref } from './commission.view.ts'
import type { OpenPoint } from './commission-model.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

type RolesModel = {
  building: Building
  /** The surest first. */
  open: OpenPoint[]
  refusal: string | undefined
  user: User | undefined
  csrf: string
}

/** Suggestions of one form; the next come when these are decided. */
const SHOWN = 300

export function rolesBody({ building, open, refusal, user, csrf }: RolesModel): Html {
  const likely = open.filter(({ suggestion }) => suggestion.confidence >= LIKELY).length
  const more = open.length - SHOWN
  return html`${commissionCrumbs(building)}
<h1>Accept suggested roles</h1>
<p class="lead">Suggestions for points without a role, the surest first. Those of ${shareOf(LIKELY)} and more are chosen; nothing is saved before you say so.</p>
${refusal !== undefined && html`<p class="error" role="alert">${refusal}</p>`}
${
  open.length === 0
    ? html`<section class="card quiet-card"><h2>There is no suggestion left.</h2><p>Points of which the name says too little get their role <a href="/points?building=${encodeURIComponent(building.building_id)}">one equipment after the other</a>. Next: <a href="${commissionHref('/units', building)}">check units</a>.</p></section>`
    : html`<form method="post" action="${COMMISSION_PATH}/roles">${csrfField(csrf)}<input type="hidden" name="building" value="${building.building_id}">
<section class="card"><h2>${sayCountOf(open.length, 'suggestion')}, ${likely} likely</h2>
<table class="tried"><thead><tr><th scope="col">Choose</th><th scope="col">Point</th><th scope="col">Equipment</th><th scope="col">Role</th><th scope="col">Why</th></tr></thead>
<tbody>${open.slice(0, SHOWN).map(suggestionRow)}</tbody></table>
${more > 0 && html`<p class="muted">${sayCountOf(more, 'more suggestion')} come when these are decided.</p>`}
${operatorButton(user, 'why-roles', say`Give the chosen points their roles`, 'primary')}</section></form>`
}`
}

const suggestionRow = ({ point, equipment, suggestion: { role, confidence, why } }: OpenPoint): Html => html`<tr>
<td data-label="Choose"><div><input type="checkbox" class="pick" name="role.${point.point_id}" value="${role}" aria-label="${point.name} is ${role}"${confidence >= LIKELY && html` checked`}></div></td>
<td data-label="Point"><div><a href="${pointHref(point)}">${point.name}</a> <span class="muted">${unitLabel(point.unit)}</span></div></td>
<td data-label="Equipment"><div>${equipmentLink(equipment, equipment.name)}</div></td>
<td data-label="Role"><div>${componentWords(ROLES[role]?.label ?? role)} <code>${role}</code> <span class="muted">${shareOf(confidence)}</span></div></td>
<td data-label="Why"><div class="muted">${why.join('; ')}</div></td></tr>`

/** The form of the building that this box serves. */
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { UNIT_SYSTEM_WORDS } from '#shared/central/ui/measure.ts'
import { FIRST_STEPS_PATH } from './first-steps.view.ts'
import type { SiteSettings } from '../store/site.ts'

type SiteModel = {
  building: Pick<SiteSettings['building'], 'building_id' | 'name' | 'timezone' | 'unit_system'>
  site_id: string
  /** Whether the id of the building can be changed. */
  isNew: boolean
  refusal: string | undefined
  csrf: string
}

export const siteBody = ({
  building,
  site_id,
  isNew,
  refusal,
  csrf,
}: SiteModel): Html => html`<p class="crumbs"><a href="${FIRST_STEPS_PATH}">First steps</a></p>
<h1>Building and time zone</h1>
<p class="lead">Rules and pages go by the time of the building. What is saved here counts from the next start of the program.</p>
${refusal !== undefined && html`<p class="notice" role="alert" id="refusal">${refusal}</p>`}
<form class="fields card" method="post" action="/site">${csrfField(csrf)}
<label>Name of the building <input name="name" value="${building.name}" maxlength="200" required></label>
${idField(building.building_id, isNew)}
<label>Time zone <input name="timezone" value="${building.timezone}" list="zones" maxlength="64" required autocomplete="off" spellcheck="false" aria-describedby="zone-help"></label>
<datalist id="zones">${Intl.supportedValuesOf('timeZone').map(zone => html`<option value="${zone}"></option>`)}</datalist>
<p class="muted" id="zone-help">A name of the IANA list, for example America/Chicago or Europe/Berlin. Type a part of it to find it.</p>
<label>Units on pages <select name="unit_system"><option value="si"${building.unit_system === 'si' && html` selected`}>${UNIT_SYSTEM_WORDS.si}</option><option value="us"${building.unit_system === 'us' && html` selected`}>${UNIT_SYSTEM_WORDS.us}</option></select></label>
<p class="muted">The box belongs to the site <code>${site_id}</code>; the kit of a hub says which.</p>
<button class="primary">Save</button></form>`

const idField = (building_id: string, isNew: boolean): Html =>
  isNew
    ? html`<label>Id of the building <input name="building_id" value="${building_id}" maxlength="128" pattern="[A-Za-z0-9._\\-]+" required autocomplete="off" spellcheck="false" aria-describedby="id-help"></label>
<p class="muted" id="id-help">The hub knows the building by it, and it cannot be changed once devices are read. A box that replaces another takes the same id.</p>`
    : html`<input type="hidden" name="building_id" value="${building_id}"><p>Id of the building: <code>${building_id}</code>. It stays, because devices or points belong to it.</p>`

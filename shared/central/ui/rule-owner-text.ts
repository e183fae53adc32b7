/** A building whose own appliance runs its rules: what is set elsewhere does not count there, and every page and answer says so. */
import { type Html, html } from '#shared/node/http/html.ts'

export const ranByWords = (building: string, appliance: string): string =>
  `The rules of ${building} run on the appliance ${appliance}. Nothing that is set, entered or begun anew here reaches it: do that there.`

/** @param appliance undefined where this process runs the rules itself */
export const ranByNotice = (building: string, appliance: string | undefined): Html | false =>
  appliance !== undefined && html`<p class="notice">${ranByWords(building, appliance)}</p>`

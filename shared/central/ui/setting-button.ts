/** The button of a form that changes what rules read. It says so where the change would not reach them. */
import { type Html, html } from '#shared/node/http/html.ts'
import { operatorButton, type User } from './frame.ts'
import type { RuleOwner } from './words.ts'

/** `ruleOwner`: the appliance that runs the building's rules itself, where this process does not. */
type Changer = { user: User | undefined; ruleOwner: RuleOwner | undefined }

/** @param id names the sentence that explains, for screen readers */
export const settingButton = ({ user, ruleOwner }: Changer, id: string, text: string, kind = ''): Html =>
  ruleOwner === undefined
    ? operatorButton(user, id, text, kind)
    : html`<button class="${kind}" disabled aria-describedby="${id}">${text}</button>
<p class="why" id="${id}">It would not count here: the appliance ${ruleOwner.name} runs the rules. Set it on its pages.</p>`

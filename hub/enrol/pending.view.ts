/** The part of the page Enrol about boxes without a kit: what to enter there, and those that wait. */
import { csrfField } from '#shared/central/ui/frame.ts'
import { type Here, momentAge } from '#shared/central/ui/moment.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { spaced } from '#shared/node/pki/fingerprint.ts'
import type { PendingBox } from './pending-boxes.ts'

export type PendingModel = {
  here: Here
  csrf: string
  /** Address of this hub and fingerprint of its authority, for the page Hub of a box. */
  line: string
  waiting: PendingBox[]
  /** Whose page it is; undefined for that of the hub itself. */
  tenant_id: string | undefined
}

export const pendingSection = ({
  here,
  csrf,
  line,
  waiting,
  tenant_id,
}: PendingModel): Html => html`<section class="card" id="waiting"><h2>Boxes that wait</h2>
${
  waiting.length === 0
    ? html`<p>None. A box without a kit asks for a certificate when you enter this line on its page Hub:</p>`
    : html`<p>Compare each fingerprint with the one on the page Hub of the box before you accept it. The line for further boxes:</p>`
}
<p><code>${line}</code></p>
${waiting.map(box => boxForm({ here, csrf, tenant_id }, box))}</section>`

const boxForm = (
  { here, csrf, tenant_id }: Pick<PendingModel, 'here' | 'csrf' | 'tenant_id'>,
  box: PendingBox,
): Html => html`<section class="card" aria-label="Box ${box.fingerprint}">
<p><code>${spaced(box.fingerprint)}</code></p>
<p class="muted">from ${box.network}, ${momentAge(box.asked_at, here)}</p>
${box.tenant_id !== tenant_id && html`<p class="notice">It asks the people of tenant <code>${box.tenant_id}</code>, whom this hub does not have. If you accept it, it belongs to the hub itself.</p>`}
<form class="fields" method="post" action="/enrol/accept">${csrfField(csrf)}<input type="hidden" name="fingerprint" value="${box.fingerprint}">
<label>Site <input name="site_id" value="${box.site_id ?? ''}" required maxlength="64" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" autocomplete="off"></label>
<label>Box (edge id) <input name="edge_id" value="${box.edge_id ?? ''}" required maxlength="64" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" autocomplete="off"></label>
<label class="check"><input type="checkbox" name="replace" value="yes"> Replace: revoke the valid certificate of this box</label>
<button>Accept</button></form>
<details><summary>Reject</summary>
<form method="post" action="/enrol/reject">${csrfField(csrf)}<input type="hidden" name="fingerprint" value="${box.fingerprint}">
<button>Reject the box</button></form></details></section>`

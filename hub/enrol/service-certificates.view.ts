/** The part of the page Enrol about the certificates of the hub itself. */
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { ServiceCertificate } from './service-certificates.ts'
import { say, words } from '#shared/node/http/language.ts'

const NAMES: Record<ServiceCertificate['holder'], string> = words({
  broker: 'Broker',
  central: 'Central',
  pages: 'Pages',
  authority: 'Authority',
})

export const serviceCertificatesSection = (
  certificates: readonly ServiceCertificate[],
  here: Here,
): Html => html`<section class="card" id="hub-certificates"><h2>Certificates of this hub</h2>
<p>They are renewed when two thirds of their life are over, where the authority is on this hub. Files that you replace are used at once.</p>
<dl class="values">${certificates.map(
  ({ holder, to, advice }) =>
    html`<div><dt>${NAMES[holder]}</dt><dd>${to <= here.now ? say`ended` : say`valid until`} ${moment(to, here)}</dd>${advice !== undefined && html`<dd>${adviceText(advice)}</dd>`}</div>`,
)}</dl></section>`

/** Commands are between backquotes. */
const adviceText = (advice: string): Html =>
  html`${advice.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : i === 0 ? part.replace(/^./, letter => letter.toUpperCase()) : part))}.`

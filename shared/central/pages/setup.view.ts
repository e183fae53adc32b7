import { type Html, html } from '#shared/node/http/html.ts'
import type { NavItem } from '#shared/central/ui/frame.ts'

/** @param left tasks that the bar of a phone has no room for */
export const setupBody = (title: string, pages: NavItem[], left: NavItem[]): Html => html`<h1>${title}</h1>
<ul class="hits setup">${left.map(item => entry(item, 'for-narrow'))}${pages.map(item => entry(item))}</ul>`

const entry = ({ href, text, about }: NavItem, kind = ''): Html =>
  html`<li class="${kind}"><a href="${href}"><strong>${text}</strong> <span class="muted">${about ?? ''}</span></a></li>`

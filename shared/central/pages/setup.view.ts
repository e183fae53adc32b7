import type { HistoryExtent } from '#shared/core/series/history-quota.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { NavItem } from '#shared/central/ui/frame.ts'
import { bytesText } from '#shared/central/ui/words.ts'
import { say } from '#shared/node/http/language.ts'

type SetupModel = {
  title: string
  pages: NavItem[]
  /** Tasks that the bar of a phone has no room for. */
  left: NavItem[]
  history: HistoryExtent
}

export const setupBody = ({ title, pages, left, history }: SetupModel): Html => html`<h1>${title}</h1>
<ul class="hits setup">${left.map(item => entry(item, 'for-narrow'))}${pages.map(item => entry(item))}</ul>
<p class="as-of">${historyWords(history)}</p>`

export function historyWords({ bytes, max_bytes, whole_from, thinned_from }: HistoryExtent): string {
  if (whole_from === null && thinned_from === null) return say`No history is older than a day yet.`
  const most = Number.isFinite(max_bytes) ? say` of at most ${bytesText(max_bytes)}` : ''
  return say`History takes ${bytesText(bytes)}${most}: ${keptWords({ whole_from, thinned_from })}.`
}

/** What is kept of history, and since when; empty where nothing is older than a day. */
export const keptWords = ({ whole_from, thinned_from }: Pick<HistoryExtent, 'whole_from' | 'thinned_from'>): string =>
  [
    ...(whole_from === null ? [] : [say`every sample since ${whole_from}`]),
    ...(thinned_from === null ? [] : [say`one value for 15 minutes since ${thinned_from}`]),
  ].join(', ')

const entry = ({ href, text, about }: NavItem, kind = ''): Html =>
  html`<li class="${kind}"><a href="${href}"><strong>${text}</strong> <span class="muted">${about ?? ''}</span></a></li>`

/** What an edge reports of itself, in words: for its line of Fleet and its own page. */
import { FRESH_MS } from '#shared/core/telemetry/fresh-data.ts'
import { diskLevel } from '#shared/core/disk-use.ts'
import type { EdgeKey } from '#shared/core/model/model.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { DAY, formatDuration } from '#shared/core/time.ts'
import type { MisdatedNews } from '#shared/flow/ingest/edge-notices.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { versionText } from '#shared/central/ui/frame.ts'
import { edgeHref, edgePath, querySite } from '#shared/central/ui/links.ts'
import { courseShort, courseWords } from '#shared/central/system/backlog-words.ts'
import type { State } from '#shared/central/ui/icons.ts'
import { formatAge, formatLeft, type Here, momentAge } from '#shared/central/ui/moment.ts'
import { edgeBacklogCourse, type EdgeHealth, type EdgeStatus, type ReportedFigures } from './fleet-status.ts'
import { say, sayCount, sayCountOf, words } from '#shared/node/http/language.ts'

const CERTIFICATE_SOON = 60 * DAY
/** A clock offset above this puts events into the wrong order. */
export const OFFSET_MAX_MS = 5000

export const STATUS_WORDS: Record<EdgeStatus, string> = words({
  operational: 'Operational',
  reduced: 'Reduced',
  disconnected: 'Disconnected',
  pending: 'Pending',
})
export const STATUS_MARK: Record<EdgeStatus, State> = {
  operational: 'ok',
  reduced: 'stale',
  disconnected: 'down',
  pending: 'unknown',
}

/** @returns ` (for 12 min)`; empty where nobody knows since when */
export const stateAge = ({ since }: EdgeHealth, { now }: Here): string =>
  since === undefined ? '' : say` (for ${formatDuration(Math.max(0, now - since))})`

/** Backlog, clock, certificate and version are what the edge said last: of one that says nothing any more they are old. */
export const reportAge = ({ online }: { online: boolean }, { sent_at }: ReportedFigures, { now }: Here): Html | false =>
  !online &&
  sent_at !== null &&
  now - sent_at > FRESH_MS &&
  html`<span class="sentence muted">${say`Its figures are ${formatDuration(now - sent_at)} old`}</span>`

/** In a list: the version, and for how long it has been so. */
export const versionWords = ({ version, version_since }: EdgeRecord, { now }: Here): Html | string =>
  version === ''
    ? say`not reported`
    : html`${versionText(version)}${version_since !== null && html` <span class="muted">${say`for ${formatDuration(Math.max(0, now - version_since))}`}</span>`}`

export const edgePartHref = (edge: EdgeKey): string => `${edgePath(edge)}/part?${querySite(edge)}`
export const edgeLogPath = (edge: EdgeKey): string => `${edgePath(edge)}/log`
export const edgeLogHref = (edge: EdgeKey): string => `${edgeLogPath(edge)}?${querySite(edge)}`
export const edgeDiagnosticsHref = (edge: EdgeKey): string => `${edgePath(edge)}/diagnostics?${querySite(edge)}`
export const edgeOverridesHref = (edge: EdgeKey): string => `${edgePath(edge)}/overrides?${querySite(edge)}`

/** The form that makes the kit of another box in its place. */
export const replaceBoxHref = ({ site_id, edge_id }: EdgeKey): string => `/enrol?${new URLSearchParams({ site_id, edge_id })}#kit`

/** Over a page that is asked of an edge. */
export const edgeCrumbs = (edge: EdgeKey & { name: string }): Html =>
  html`<p class="crumbs"><a href="/">Fleet</a> <span aria-hidden="true">›</span> <a href="${edgeHref(edge)}">${edge.name || edge.edge_id}</a></p>`

export function diskWarning({ disk_used_percent: used }: ReportedFigures): Html | false {
  return used !== null && diskLevel(used) !== undefined && html`<strong>its disk is ${used} % full</strong>`
}

/** @param isShort in a list, whose columns are narrow: the worst of it, and the page of the edge has it all */
export function backlogWords(reported: ReportedFigures, isOnline: boolean, here: Here, isShort = false): Html | string {
  const { backlog_rows, backlog_oldest_at, dropped, thinned } = reported
  const { now } = here
  if (backlog_rows === null) return say`not reported`
  const oldest = backlog_oldest_at === null ? undefined : say`oldest ${formatAge(backlog_oldest_at, now)}`
  const course = edgeBacklogCourse(reported, isOnline, now)
  const short = isShort ? courseShort(course, here) : undefined
  const isLosing = isShort && dropped !== null && dropped > 0
  const about = isLosing ? '' : (short ?? [oldest, courseWords(course, here)].filter(part => part !== undefined).join(', '))
  const downsampled = !isLosing && thinned !== null && thinned > 0 && html` <strong>${sayCount(thinned)} downsampled</strong>`
  const lost = dropped !== null && dropped > 0 && html` <strong>${sayCount(dropped)} dropped</strong>`
  return html`${backlog_rows === 0 ? say`none` : html`${sayCountOf(backlog_rows, 'message')}${about !== '' && html` <span class="muted">${about}</span>`}`}${downsampled}${lost}`
}

export function clockWords({ clock_offset_ms }: ReportedFigures): Html | string {
  if (clock_offset_ms === null) return say`not reported`
  if (Math.abs(clock_offset_ms) < 1000) return say`within 1\u00a0s`
  const off = formatDuration(Math.abs(clock_offset_ms))
  const words = clock_offset_ms > 0 ? say`${off} ahead` : say`${off} behind`
  return Math.abs(clock_offset_ms) > OFFSET_MAX_MS ? html`<strong>${words}</strong>` : words
}

/** In a list: the page of the edge says which they are. */
export const misdatedShort = ({ count }: MisdatedNews): Html => html` <strong>${sayCountOf(count, 'reading')} kept apart</strong>`

/** Readings whose times cannot be right: how many, why, and where they are. */
export const misdatedWords = ({ count, last_at, reason }: MisdatedNews, { building_id }: EdgeRecord, here: Here): Html =>
  html`<strong>${sayCount(count)}</strong> <span class="muted">the last ${momentAge(last_at, here)}; their times cannot be right: ${reason}. They are not in the history: <a href="/api/history/misdated?${new URLSearchParams({ building_id })}">all of them</a></span>`

export function certificateWords({ cert_not_after }: ReportedFigures, { now }: Here): Html | string {
  if (cert_not_after === null) return say`not reported`
  const left = cert_not_after - now
  const words = left < 0 ? say`expired` : formatLeft(left)
  return left < CERTIFICATE_SOON ? html`<strong>${words}</strong>` : words
}

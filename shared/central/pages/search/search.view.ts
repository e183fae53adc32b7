/** The page of the search, and the list under the box while somebody types. */
import { SEARCH_KINDS, type SearchEntry, type SearchKind, type SearchResult } from '#shared/core/search/search-index.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { buildingHref, equipmentHref, findingHref, pointHref, rulePath } from '#shared/central/ui/links.ts'
import { say, sayCountOf, words } from '#shared/node/http/language.ts'

export type SearchModel = SearchResult & { query: string; kind: SearchKind | undefined }

const KIND_WORDS: Record<SearchKind, readonly [one: string, many: string]> = words({
  page: ['page', 'Pages'],
  building: ['building', 'Buildings'],
  equipment: ['equipment', 'Equipment ¦ several'],
  fault: ['fault', 'Open faults'],
  rule: ['rule', 'Rules'],
  point: ['point', 'Points'],
})

export const searchBody = (model: SearchModel): Html => html`<h1>Search</h1>
<form class="filter" role="search" method="get" action="/search">
<label>Name, id, role or address<input type="search" name="q" value="${model.query}" maxlength="200" autofocus></label><button class="primary">Search</button>
</form>
${model.query.trim() === '' ? html`<p>Buildings, equipment, points, open faults, rules and pages are found by any part of their name, id, role or address; several words must all occur.</p>` : results(model)}`

function results(model: SearchModel): Html {
  const { counts, hits, kind, query } = model
  const total = SEARCH_KINDS.reduce((sum, one) => sum + counts[one], 0)
  if (total === 0)
    return html`<section class="card quiet-card"><h2>Nothing has “${query}” in it</h2><p>Try a part of a name, a role such as <code>sa_t</code>, or an address such as <code>analog-input,12</code>.</p></section>`
  const href = (one: SearchKind | undefined) => `/search?${new URLSearchParams({ q: query, ...(one && { kind: one }) })}`
  const choice = (one: SearchKind | undefined, text: string) =>
    html`<li><a href="${href(one)}"${one === kind && html` aria-current="true"`}>${text}</a></li>`
  const shown = kind === undefined ? total : counts[kind]
  return html`<ul class="choices found-kinds">${choice(undefined, say`All ${total}`)}${SEARCH_KINDS.filter(one => counts[one] > 0).map(one => choice(one, `${KIND_WORDS[one][1]} ${counts[one]}`))}</ul>
${hitList(hits)}
${shown > hits.length && html`<p class="muted">${sayCountOf(shown - hits.length, 'more')} of them: add a word.</p>`}`
}

const hitList = (hits: SearchEntry[]): Html =>
  html`<ul class="hits">${hits.map(
    hit =>
      html`<li><a href="${hrefOf(hit)}"><strong>${hit.kind === 'rule' ? say(hit.title) : hit.title}</strong> <span class="muted">${KIND_WORDS[hit.kind][0]} · ${hit.detail}</span></a></li>`,
  )}</ul>`

/** The list under the box: the best hits, and the way to all. */
export function searchPart({ query, hits, counts }: SearchModel): Html {
  if (query.trim() === '') return html``
  const total = SEARCH_KINDS.reduce((sum, one) => sum + counts[one], 0)
  if (total === 0) return html`<p class="muted">Nothing has “${query}” in it.</p>`
  return html`${hitList(hits)}${total > hits.length && html`<p><a href="/search?${new URLSearchParams({ q: query })}">All ${total}</a></p>`}`
}

function hrefOf({ kind, id, building_id = '' }: SearchEntry): string {
  switch (kind) {
    case 'page':
      return id
    case 'building':
      return buildingHref(id)
    case 'equipment':
      return equipmentHref({ building_id, equipment_id: id })
    case 'point':
      return pointHref({ building_id, point_id: id })
    case 'fault':
      return findingHref(id)
    case 'rule':
      return rulePath(id)
  }
}

/** A part of a long list, the links to the other parts, and the form that searches in it. */
import { Type } from '@sinclair/typebox'
import { type Html, html } from '#shared/node/http/html.ts'

export type ListPart<Row> = {
  rows: Row[]
  /** From 1. */
  page: number
  pages: number
  /** Rows of the whole list. */
  total: number
}

/** `page` of a query. */
export const PAGE_NUMBER = Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 }))

/** The part of a list on one page; the last one when there are not so many. */
export function partOf<Row>(all: readonly Row[], page: number | undefined, size: number): ListPart<Row> {
  const pages = Math.max(1, Math.ceil(all.length / size))
  const shown = Math.min(page ?? 1, pages)
  return { rows: all.slice((shown - 1) * size, shown * size), page: shown, pages, total: all.length }
}

/** Nothing is shown for a list of one page. */
export const pager = (
  { page, pages }: Pick<ListPart<unknown>, 'page' | 'pages'>,
  hrefOf: (page: number) => string,
): Html | false =>
  pages > 1 &&
  html`<nav class="pages" aria-label="Parts of the list"><ul class="choices">${page > 1 && html`<li><a href="${hrefOf(page - 1)}">Previous</a></li>`}<li><span>Page ${page} of ${pages}</span></li>${page < pages && html`<li><a href="${hrefOf(page + 1)}">Next</a></li>`}</ul></nav>`

type ListSearch = {
  path: string
  /** Goes along with the words. */
  state: Readonly<Record<string, string | undefined>>
  q: string
  label: string
  /** Further fields. */
  fields?: Html
}

/** Works without script; a search begins at the first page. */
export const listSearch = ({ path, state, q, label, fields }: ListSearch): Html =>
  html`<form class="filter" role="search" aria-label="${label}" method="get" action="${path}">${Object.entries(state).map(
    ([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`,
  )}<label>${label}<input type="search" name="q" value="${q}" maxlength="200"></label>${fields}<button>Search</button></form>`

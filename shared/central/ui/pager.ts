/** A part of a long list, the links to the other parts, and the form that searches in it. */
import { Type } from '@sinclair/typebox'
import { type Html, html } from '#shared/node/http/html.ts'
import { say } from '#shared/node/http/language.ts'

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

/** A list of fewer rows is read, not searched. */
export const SEARCHED_FROM = 10

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

/** More choices than these are folded on every screen: they would take more of a phone than what is chosen. */
const CHOICES_OPEN = 6

/** What is folded opens without script; its line says what is in it. */
export const fold = (summary: Html | string, inner: Html, isOpen = false): Html =>
  html`<details class="fold"${isOpen && html` open`}><summary><span>${summary}</span></summary>${inner}</details>`

/** Links to choose by; folded under the one that is chosen where there are many. */
export function choiceList(choices: readonly { href: string; text: string; isChosen: boolean }[]): Html {
  const list = html`<ul class="choices">${choices.map(
    ({ href, text, isChosen }) => html`<li><a href="${href}"${isChosen && html` aria-current="true"`}>${text}</a></li>`,
  )}</ul>`
  return choices.length > CHOICES_OPEN ? fold(choices.find(({ isChosen }) => isChosen)?.text ?? say`None is chosen`, list) : list
}

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

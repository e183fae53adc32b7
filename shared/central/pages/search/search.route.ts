/** The page of the search, and the part that appears under the box while somebody types. */
import { Type } from '@sinclair/typebox'
import { SEARCH_KINDS, type SearchEntry, type SearchKind, searchWords } from '#shared/core/search/search-index.ts'
import { type Caller, oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import { SEARCH_TEXT } from '#shared/central/api/search.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { SEARCH_PATH } from '#shared/central/ui/frame.ts'
import { searchBody, type SearchModel, searchPart } from './search.view.ts'
import { say } from '#shared/node/http/language.ts'

/** Hits of the page, and of the list under the box: that is as long as a phone is high. */
const PAGE_HITS = 100
const PART_HITS = 10

export function searchPage({ search }: Pick<CentralContext, 'search'>, layout: PageLayout): Route[] {
  async function find(caller: Caller | undefined, query: string, limit: number, kind?: SearchKind): Promise<SearchModel> {
    const pages = layout.pagesFor(caller).all.map(
      ({ href, text, about }): SearchEntry => ({
        kind: 'page',
        id: href,
        title: text,
        detail: about ?? 'page',
        words: searchWords(text, about),
      }),
    )
    return { query, kind, ...(await search.find({ query, kind, limit, pages })) }
  }
  return [
    route({
      method: 'GET',
      path: SEARCH_PATH,
      auth: 'viewer',
      summary: 'The page of the search',
      query: strict({ q: Type.Optional(SEARCH_TEXT), kind: Type.Optional(oneOf(SEARCH_KINDS)) }),
      handle: async call => {
        const model = await find(call.caller, call.query.q ?? '', PAGE_HITS, call.query.kind)
        return layout.document(call, { title: say`Search`, current: SEARCH_PATH }, searchBody(model))
      },
    }),
    route({
      method: 'GET',
      path: `${SEARCH_PATH}/part`,
      auth: 'viewer',
      summary: 'The list under the box of the search',
      query: strict({ q: Type.Optional(SEARCH_TEXT) }),
      handle: async call => searchPart(await find(call.caller, call.query.q ?? '', PART_HITS)),
    }),
  ]
}

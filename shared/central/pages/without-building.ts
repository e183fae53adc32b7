/** Pages of a building while there is none yet: what is so, and what to do next, instead of an error. */
import type { CentralContext } from '#shared/central/context.ts'
import { Problem } from '#shared/core/problem.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { say } from '#shared/node/http/language.ts'
import type { Route } from '#shared/node/http/route.ts'
import type { PageLayout } from './layout.ts'

/** @returns the route; where it is a page that chose a building itself and found none, it says so with status 200 */
export const withoutBuilding = (route: Route, { model }: Pick<CentralContext, 'model'>, layout: PageLayout): Route => ({
  ...route,
  async handle(call) {
    try {
      return await route.handle(call)
    } catch (error) {
      const isNamed = new URL(call.request.url, 'http://localhost').searchParams.has('building')
      const isMissing = error instanceof Problem && error.code === 'unknown_building' && model.buildings().length === 0
      if (route.method !== 'GET' || route.path.includes(':') || isNamed || !isMissing) throw error
      return layout.document(
        call,
        { title: say`There is no building yet`, current: route.path },
        noBuildingBody(layout, call.caller),
      )
    }
  },
})

function noBuildingBody(layout: PageLayout, caller: Parameters<PageLayout['pagesFor']>[0]): Html {
  const links = layout.pagesFor(caller).all.filter(({ href }) => NEXT_PAGES.includes(href))
  return html`<h1>There is no building yet</h1>
<section class="card quiet-card"><p>A building comes with the first box that reads it, or with a package that is imported.</p>
${links.length > 0 && html`<ul class="links">${links.map(({ href, text, about }) => html`<li><a href="${href}">${text}</a>${about !== undefined && html`: ${about}`}</li>`)}</ul>`}</section>`
}

/** Where a first building comes from, those of a hub and of a box. */
const NEXT_PAGES = ['/enrol', '/import', '/first-steps']

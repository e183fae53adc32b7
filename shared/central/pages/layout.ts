/** The layout that all pages of a process share. */
import type { Html } from '#shared/node/http/html.ts'
import type { ModelReader } from '#shared/core/stores.ts'
import type { Assets, NavItem, Site, User } from '#shared/central/ui/frame.ts'
import type { Here } from '#shared/central/ui/moment.ts'
import type { Call, Caller, Route } from '#shared/node/http/route.ts'

export type PageLayoutOptions = {
  product: Site['product']
  /** Name of the box or of the hub, as people call it. */
  name: string
  /** Name of the first page: Home on an appliance, Fleet on a hub. */
  first: string
  /** Pages of the product beside the common ones. */
  more?: NavItem[]
}
type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>

export type PageLayout = {
  /** The file route; the pages' own routes come from `pageRoutes`, `homeRoutes` and `fleetRoutes`. */
  routes: Route[]
  assets: Assets
  here(): Here
  userOf(caller: Caller | undefined): User | undefined
  /**
   * The model as a person reads it: buildings have the units that were chosen for all pages. For what a page shows; what is stored
   * has the units of the building.
   */
  modelFor(caller: Caller | undefined): ModelReader
  csrfOf(caller: Caller | undefined): string
  /** The pages of set-up, and all pages, that a caller may open. */
  pagesFor(caller: Caller | undefined): Record<'setup' | 'all', NavItem[]>
  /** @param at title, the entry of the navigation that it belongs to, and on a page of one building that building's `here` */
  document(call: AnyCall, at: { title: string; current: string; here?: Here }, body: Html): Html
}

/** What every page of a process shares, and the way from a call to a whole document. */
import type { Html } from '#shared/node/http/html.ts'
import { type Frame, type NavItem, page, type Site, type User } from '#shared/central/ui/frame.ts'
import type { Here } from '#shared/central/ui/moment.ts'
import { addVary } from '#shared/node/http/compress.ts'
import type { Call, Caller, Route } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { openAssets } from './assets.ts'

export type PageLayoutOptions = {
  product: Site['product']
  /** Name of the box or of the hub, as people call it. */
  name: string
  /** What the first page is called: Home on a box, Fleet on a hub. */
  first: string
  /** Pages of the product beside the common ones. */
  more?: NavItem[]
}
type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>

export type PageLayout = {
  /** The file route; the pages' own routes come from `pageRoutes`, `homeRoutes` and `fleetRoutes`. */
  routes: Route[]
  here(): Here
  userOf(caller: Caller | undefined): User | undefined
  csrfOf(caller: Caller | undefined): string
  /** @param at title, the entry of the navigation that it belongs to, and on a page of one building that building's `here` */
  document(call: AnyCall, at: { title: string; current: string; here?: Here }, body: Html): Html
}

/** Reads the static files. A process that serves pages creates one layout. */
export function createPageLayout(
  context: Pick<CentralContext, 'auth' | 'clock' | 'model' | 'version'>,
  options: PageLayoutOptions,
): PageLayout {
  const { auth, clock, model, version } = context
  const { assets, route } = openAssets()
  const nav: NavItem[] = [
    { href: '/', text: options.first },
    { href: '/faults', text: 'Faults' },
    { href: '/analytics', text: 'Analytics' },
    ...(options.more ?? []),
    { href: '/points', text: 'Points' },
    { href: '/params', text: 'Parameters' },
    { href: '/quantities', text: 'Quantities' },
  ]
  const site: Site = { product: options.product, name: options.name, nav, version, assets, open: !auth.required }
  const layout: PageLayout = {
    routes: [route],
    here: () => ({ now: clock.now(), timezone: sharedZone(model.buildings().map(({ timezone }) => timezone)) }),
    userOf,
    csrfOf: caller => (caller ? auth.formToken(caller) : ''),
    document({ caller, reply }, { title, current, here = layout.here() }, body) {
      // Without a referrer policy of `same-origin` browsers send `Origin: null` with a form, and it would be refused.
      reply.header('referrer-policy', 'same-origin')
      addVary(reply, 'Cookie')
      const frame: Frame = { site, title, current, here, user: userOf(caller), csrf: layout.csrfOf(caller) }
      return page(frame, body)
    },
  }
  return layout
}

function userOf(caller: Caller | undefined): User | undefined {
  return caller && { name: caller.subject, role: caller.role, mayOperate: caller.role === 'operator' || caller.role === 'admin' }
}

/** The buildings' zone where they agree, else UTC: a page never mixes zones without saying so. */
const sharedZone = (zones: string[]): string => (new Set(zones).size === 1 ? zones[0]! : 'UTC')

/** Creates the layout that every page of a process shares. */
import { type Frame, isFor, type NavItem, page, type Site, type User } from '#shared/central/ui/frame.ts'
import { addVary } from '#shared/node/http/compress.ts'
import type { Caller } from '#shared/node/http/route.ts'
import type { Building } from '#shared/core/model/model.ts'
import type { ModelReader } from '#shared/core/stores.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { openAssets } from './assets.ts'
import { words } from '#shared/node/http/language.ts'
import type { PageLayout, PageLayoutOptions } from './layout.ts'
import { navigation } from './routes.ts'

/** Reads the static files. A process that serves pages creates one layout. */
export function createPageLayout(
  context: Pick<CentralContext, 'auth' | 'clock' | 'model' | 'preferences' | 'version'>,
  options: PageLayoutOptions,
): PageLayout {
  const { auth, clock, model, preferences, version } = context
  const { assets, route, firstStyle } = openAssets()
  const { nav, setup } = navigation(options)
  const site: Site = { product: options.product, name: options.name, nav, setup, version, assets, open: !auth.required }
  const userOf = (caller: Caller | undefined): User | undefined => {
    if (!caller) return undefined
    const { subject: name, role } = caller
    const mayOperate = role === 'operator' || role === 'admin'
    return { name, role, mayOperate, ...(caller.must_change_password && { mustChangePassword: true }), ...preferences.get(name) }
  }
  const layout: PageLayout = {
    routes: [route],
    assets,
    here: () => ({ now: clock.now(), timezone: sharedZone(model.timezones()) }),
    userOf,
    modelFor: caller => inUnits(model, userOf(caller)?.unit_system),
    pagesFor(caller) {
      const user = userOf(caller)
      const open = (items: NavItem[]) =>
        items.filter(item => user !== undefined && isFor(item, user)).map(item => words(item, 'about', 'text'))
      return { setup: open(setup), all: open([...nav, ...setup]) }
    },
    csrfOf: caller => (caller ? auth.formToken(caller) : ''),
    document({ caller, reply }, { title, current, here = layout.here() }, body) {
      // Without a referrer policy of `same-origin` browsers send `Origin: null` with a form, and it would be refused.
      reply.header('referrer-policy', 'same-origin')
      addVary(reply, 'Cookie')
      const frame: Frame = {
        site,
        title,
        current,
        here,
        user: userOf(caller),
        csrf: layout.csrfOf(caller),
        firstStyle: firstStyle(reply),
      }
      return page(frame, body)
    },
  }
  return layout
}

/** @param system undefined for the units of each building */
function inUnits(model: ModelReader, system: Building['unit_system'] | undefined): ModelReader {
  if (system === undefined) return model
  const { buildings, building, equipment, points, revision, revisions } = model
  const shown = <T extends Building | undefined>(one: T): T => one && { ...one, unit_system: system }
  return {
    buildings: () => buildings().map(shown),
    timezones: model.timezones,
    building: building_id => shown(building(building_id)),
    equipment,
    points,
    revision,
    revisions,
  }
}

/** The buildings' zone where they agree, else UTC: a page never mixes zones without saying so. */
const sharedZone = (zones: string[]): string => (zones.length === 1 ? zones[0]! : 'UTC')

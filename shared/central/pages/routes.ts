import type { Route } from '#shared/node/http/route.ts'
import type { NavItem } from '#shared/central/ui/frame.ts'
import type { CentralParts } from '../context.ts'
import { alertsPage } from '#shared/central/pages/settings/alerts.route.ts'
import { analyticsPages } from '#shared/central/pages/analytics/analytics.route.ts'
import { backupsPage } from '#shared/central/pages/settings/backups.route.ts'
import { baselinesPage } from '#shared/central/pages/settings/baselines.route.ts'
import { coveragePage } from './coverage.route.ts'
import { pointsPage } from './points.route.ts'
import { buildingPages } from '#shared/central/pages/equipment/buildings.route.ts'
import { equipmentPage } from '#shared/central/pages/equipment/equipment.route.ts'
import { pointPage } from '#shared/central/pages/equipment/point.route.ts'
import { importPages } from '#shared/central/pages/import/import.route.ts'
import { faultPage } from '#shared/central/pages/faults/fault.route.ts'
import { faultsPage } from '#shared/central/pages/faults/faults.route.ts'
import { loginPage } from './login.route.ts'
import { auditPage } from '#shared/central/pages/access/audit.route.ts'
import { usersPage } from '#shared/central/pages/access/users.route.ts'
import { passwordPage } from '#shared/central/pages/access/password.route.ts'
import { paramsPage } from '#shared/central/pages/settings/params.route.ts'
import { quantitiesPage } from '#shared/central/pages/settings/quantities.route.ts'
import { runsPage } from './runs.route.ts'
import type { PageLayout } from './layout.ts'
import { BUILDINGS_PATH } from '#shared/central/ui/links.ts'

type PageEntry = {
  /** The entry of the navigation; a page without one is reached from another page. */
  nav?: NavItem
  routes: (context: CentralParts, layout: PageLayout) => Route[]
}

/** Pages on what happens in the building. Adding a page is its route file, its view file and one line here or below. */
const OPERATION_PAGES: PageEntry[] = [
  { nav: { href: '/faults', text: 'Faults' }, routes: faultsPage },
  { nav: { href: BUILDINGS_PATH, text: 'Equipment' }, routes: buildingPages },
  { routes: equipmentPage },
  { routes: pointPage },
  { nav: { href: '/analytics', text: 'Analytics' }, routes: analyticsPages },
  { routes: runsPage },
  { routes: faultPage },
  { routes: loginPage },
  { routes: passwordPage },
]
/** Pages on what rules and prices need. */
const SETUP_PAGES: PageEntry[] = [
  { nav: { href: '/points', text: 'Points' }, routes: pointsPage },
  { routes: coveragePage },
  { nav: { href: '/import', text: 'Import', for: 'operator' }, routes: importPages },
  { nav: { href: '/params', text: 'Parameters' }, routes: paramsPage },
  { routes: baselinesPage },
  { nav: { href: '/quantities', text: 'Quantities' }, routes: quantitiesPage },
  { nav: { href: '/alerts', text: 'Alerts', for: 'operator' }, routes: alertsPage },
  { nav: { href: '/users', text: 'Users', for: 'admin' }, routes: usersPage },
  { nav: { href: '/audit', text: 'Audit', for: 'admin' }, routes: auditPage },
  { nav: { href: '/backups', text: 'Backups', for: 'admin' }, routes: backupsPage },
]

/** The pages that appliance and hub share, with the files that they load. */
export const pageRoutes = (context: CentralParts, layout: PageLayout): Route[] => [
  ...layout.routes,
  ...[...OPERATION_PAGES, ...SETUP_PAGES].flatMap(({ routes }) => routes(context, layout)),
]

/** @param first the first page. @param more pages of the product, after those on operation */
export const navigation = (first: NavItem, more: NavItem[]): NavItem[] => [
  first,
  ...OPERATION_PAGES.flatMap(({ nav }) => nav ?? []),
  ...more,
  ...SETUP_PAGES.flatMap(({ nav }) => nav ?? []),
]

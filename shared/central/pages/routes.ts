import type { Route } from '#shared/node/http/route.ts'
import { type NavItem, SETUP_PATH } from '#shared/central/ui/frame.ts'
import type { CentralParts } from '../context.ts'
import { alertsPage } from '#shared/central/pages/settings/alerts.route.ts'
import { analyticsPages } from '#shared/central/pages/analytics/analytics.route.ts'
import { backupsPage } from '#shared/central/pages/settings/backups.route.ts'
import { restorePages } from '#shared/central/pages/settings/restore.route.ts'
import { baselinesPage } from '#shared/central/pages/settings/baselines.route.ts'
import { COMMISSION_PATH } from '#shared/central/pages/commission/commission.view.ts'
import { commissionPages } from '#shared/central/pages/commission/commission.route.ts'
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
import { preferencesPage } from '#shared/central/pages/access/preferences.route.ts'
import { paramsPage } from '#shared/central/pages/settings/params.route.ts'
import { editorPages } from '#shared/central/pages/rules/editor.route.ts'
import { rulePage } from '#shared/central/pages/rules/rule.route.ts'
import { rulesPage } from '#shared/central/pages/rules/rules.route.ts'
import { quantitiesPage } from '#shared/central/pages/settings/quantities.route.ts'
import { runsPage } from './runs.route.ts'
import type { PageLayout, PageLayoutOptions } from './layout.ts'
import { setupPage } from './setup.route.ts'
import { searchPage } from '#shared/central/pages/search/search.route.ts'
import { BUILDINGS_PATH, RULES_PATH } from '#shared/central/ui/links.ts'
import { TRENDS_PATH } from '#shared/central/ui/trends-link.ts'
import { withoutBuilding } from './without-building.ts'
import { trendsPage } from '#shared/central/pages/trends/trends.route.ts'
import { message, words } from '#shared/node/http/language.ts'

type PageEntry = {
  /** A page without it is reached from another page. */
  nav?: NavItem
  routes: (context: CentralParts, layout: PageLayout) => Route[]
}

/** Pages on what happens in the building. Adding a page is its route file, its view file and one line here or below. */
const OPERATION_PAGES: PageEntry[] = words(
  [
    { nav: { href: '/faults', text: 'Faults' }, routes: faultsPage },
    { nav: { href: BUILDINGS_PATH, text: 'Equipment ¦ several' }, routes: buildingPages },
    { nav: { href: TRENDS_PATH, text: 'Trends', about: 'Points as lines over any time', wide: true }, routes: trendsPage },
    { routes: equipmentPage },
    { routes: pointPage },
    { routes: searchPage },
    { routes: setupPage },
    { routes: faultPage },
    { routes: loginPage },
    { routes: passwordPage },
    { routes: preferencesPage },
  ],
  'about',
  'text',
)
/** Pages on what rules and prices need, and on who may do what. */
const SETUP_PAGES: PageEntry[] = words(
  [
    {
      nav: { href: COMMISSION_PATH, text: 'Commission', about: 'From points to the first faults, step by step' },
      routes: commissionPages,
    },
    { nav: { href: '/analytics', text: 'Analytics', about: 'Running hours, economizer, anomalies' }, routes: analyticsPages },
    { nav: { href: '/points', text: 'Points', about: 'Which role each point has' }, routes: pointsPage },
    {
      nav: { href: '/coverage', text: 'Coverage', about: 'Which rules can run, and what the others lack' },
      routes: coveragePage,
    },
    { nav: { href: RULES_PATH, text: 'Rules', about: 'What is looked for, and rules of your own' }, routes: rulesPage },
    { routes: rulePage },
    { routes: editorPages },
    { nav: { href: '/params', text: 'Parameters', about: 'Thresholds of the rules' }, routes: paramsPage },
    {
      nav: { href: '/baselines', text: 'Baselines', about: 'The own past that rules compare equipment with' },
      routes: baselinesPage,
    },
    {
      nav: { href: '/quantities', text: 'Quantities', about: 'Sizes and prices, from which faults get their cost' },
      routes: quantitiesPage,
    },
    { nav: { href: '/runs', text: 'Runs', about: 'When the rules ran, and what that came to' }, routes: runsPage },
    {
      nav: { href: '/import', text: 'Import', about: 'CSV packages of history and models', for: 'operator' },
      routes: importPages,
    },
    {
      nav: { href: '/alerts', text: 'Alerts', about: 'Who is told of which faults, by mail or webhook', for: 'operator' },
      routes: alertsPage,
    },
    { nav: { href: '/users', text: 'Users', about: 'People, roles and tokens', for: 'admin' }, routes: usersPage },
    { nav: { href: '/audit', text: 'Audit', about: 'Who changed what', for: 'admin' }, routes: auditPage },
    {
      nav: { href: '/backups', text: 'Backups', about: 'Encrypted copies of everything, and how to restore them', for: 'admin' },
      routes: backupsPage,
    },
    { routes: restorePages },
  ],
  'about',
  'text',
)

/** The pages that appliance and hub share, with the files that they load. */
export const pageRoutes = (context: CentralParts, layout: PageLayout): Route[] => [
  ...layout.routes,
  ...[...OPERATION_PAGES, ...SETUP_PAGES]
    .flatMap(({ routes }) => routes(context, layout))
    .map(route => withoutBuilding(route, context, layout)),
]

/** The tasks in the order of the navigation. The first page comes before them, the page of set-up after them. */
const TASKS = {
  appliance: ['/faults', BUILDINGS_PATH, '/overrides', TRENDS_PATH],
  hub: ['/faults', BUILDINGS_PATH, TRENDS_PATH, '/alerts'],
} as const

/** @returns the tasks, and the pages that the last of them lists: those of the product first */
export function navigation({ product, first, more = [] }: Pick<PageLayoutOptions, 'product' | 'first' | 'more'>) {
  const pages = [...more, ...[...OPERATION_PAGES, ...SETUP_PAGES].flatMap(({ nav }) => nav ?? [])]
  const tasks: readonly string[] = TASKS[product]
  const isHub = product === 'hub'
  const named = (item: NavItem): NavItem => (isHub && item.href === BUILDINGS_PATH ? { ...item, text: message`Buildings` } : item)
  const nav: NavItem[] = [
    { href: '/', text: first },
    ...tasks.flatMap(task => pages.filter(({ href }) => href === task).map(named)),
    { href: SETUP_PATH, text: isHub ? message`Admin` : message`Set-up` },
  ]
  return { nav, setup: pages.filter(({ href }) => !tasks.includes(href)) }
}

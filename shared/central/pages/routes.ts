import type { Route } from '#shared/node/http/route.ts'
import type { CentralParts } from '../context.ts'
import { analyticsPages } from '#shared/central/pages/analytics/analytics.route.ts'
import { baselinePages } from '#shared/central/pages/settings/baselines.route.ts'
import { coveragePage } from './coverage.route.ts'
import { pointsPage } from './points.route.ts'
import { faultRoutes } from '#shared/central/pages/faults/fault.route.ts'
import { faultsRoute } from '#shared/central/pages/faults/faults.route.ts'
import { loginRoutes } from './login.route.ts'
import { paramPages } from '#shared/central/pages/settings/params.route.ts'
import { quantityPageRoutes } from '#shared/central/pages/settings/quantities.route.ts'
import { runPageRoutes } from './runs.route.ts'
import type { PageLayout } from './layout.ts'

/** The pages that box and hub have in common, with the files they ask for. */
export const pageRoutes = (context: CentralParts, layout: PageLayout): Route[] => [
  ...layout.routes,
  ...loginRoutes(context, layout),
  ...analyticsPages(context, layout),
  faultsRoute(context, layout),
  ...runPageRoutes(context, layout),
  ...faultRoutes(context, layout),
  ...paramPages(context, layout),
  ...baselinePages(context, layout),
  ...pointsPage(context, layout),
  coveragePage(context, layout),
  ...quantityPageRoutes(context, layout),
]

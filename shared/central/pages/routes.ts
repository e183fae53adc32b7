import type { Route } from '#shared/node/route.ts'
import type { CentralParts } from '../context.ts'
import { analyticsPages } from './analytics.ts'
import { baselinePages } from './baselines.ts'
import { commissionPages } from './commission.ts'
import { faultRoutes } from './fault.ts'
import { faultsRoute } from './faults.ts'
import { loginRoutes } from './login.ts'
import { paramPages } from './params.ts'
import { quantityPageRoutes } from './quantities.ts'
import { runPageRoutes } from './runs.ts'
import type { Shell } from './shell.ts'

/** The pages that box and hub have in common, with the files they ask for. */
export const pageRoutes = (context: CentralParts, shell: Shell): Route[] => [
  ...shell.routes,
  ...loginRoutes(context, shell),
  ...analyticsPages(context, shell),
  faultsRoute(context, shell),
  ...runPageRoutes(context, shell),
  ...faultRoutes(context, shell),
  ...paramPages(context, shell),
  ...baselinePages(context, shell),
  ...commissionPages(context, shell),
  ...quantityPageRoutes(context, shell),
]

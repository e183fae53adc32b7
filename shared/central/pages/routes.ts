import type { Route } from '#shared/node/route.ts'
import type { CentralContext } from '../context.ts'
import { analyticsPages } from './analytics.ts'
import { faultRoutes } from './fault.ts'
import { faultsRoute } from './faults.ts'
import { loginRoutes } from './login.ts'
import { quantityPageRoutes } from './quantities.ts'
import { runPageRoutes } from './runs.ts'
import type { Shell } from './shell.ts'

/** The pages that box and hub have in common, with the files they ask for. */
export const pageRoutes = (context: CentralContext, shell: Shell): Route[] => [
  ...shell.routes,
  ...loginRoutes(context, shell),
  ...analyticsPages(context, shell),
  faultsRoute(context, shell),
  ...runPageRoutes(context, shell),
  ...faultRoutes(context, shell),
  ...quantityPageRoutes(context, shell),
]

import type { Route } from '#shared/node/route.ts'
import type { CentralContext } from './context.ts'
import { authRoutes } from './routes/auth.ts'
import { healthRoutes } from './routes/health.ts'

/** Every route of central; API.md lists them, and a test compares. */
export const centralRoutes = (context: CentralContext): Route[] => [...healthRoutes(context), ...authRoutes(context)]

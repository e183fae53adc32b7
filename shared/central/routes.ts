import type { Route } from '#shared/node/route.ts'
import type { CentralParts } from './context.ts'
import type { Trigger } from './fdd/trigger.ts'
import { analyticsRoutes } from './routes/analytics.ts'
import { auditRoutes } from './routes/audit.ts'
import { authRoutes } from './routes/auth.ts'
import { baselineRoutes } from './routes/baselines.ts'
import { commissionRoutes } from './routes/commission.ts'
import { fddRoutes } from './routes/fdd.ts'
import { findingRoutes } from './routes/findings.ts'
import { healthRoutes } from './routes/health.ts'
import { importRoutes } from './routes/import.ts'
import { misdatedRoutes } from './routes/misdated.ts'
import { modelRoutes } from './routes/model.ts'
import { olderRoutes } from './routes/older.ts'
import { paramRoutes } from './routes/params.ts'
import { publicRoutes } from './routes/public.ts'
import { quantityRoutes } from './routes/quantities.ts'
import { ruleFileRoutes } from './routes/rule-files.ts'
import { ruleRoutes } from './routes/rules.ts'
import { seriesRoutes } from './routes/series.ts'

/** Every route of central; API.md lists them, and a test compares. */
export const centralRoutes = (context: CentralParts, trigger: Trigger): Route[] => [
  ...healthRoutes(context),
  ...publicRoutes(context),
  ...authRoutes(context),
  ...importRoutes(context, context.sessions),
  ...modelRoutes(context),
  ...commissionRoutes(context),
  ...quantityRoutes(context),
  ...ruleRoutes(context),
  ...ruleFileRoutes(context),
  ...fddRoutes(context),
  ...paramRoutes(context),
  ...baselineRoutes(context),
  ...findingRoutes(context),
  ...seriesRoutes(context),
  ...misdatedRoutes(context),
  ...analyticsRoutes(context),
  ...auditRoutes(context),
  ...olderRoutes(context, trigger),
]

import { ofHub, type Route } from '#shared/node/http/route.ts'
import type { CentralParts } from '#shared/central/context.ts'
import type { Trigger } from '#shared/central/fdd/trigger.ts'
import { alertRoutes } from './alerts.ts'
import { analyticsRoutes } from './analytics.ts'
import { apiTokenRoutes } from './api-tokens.ts'
import { auditRoutes } from './audit.ts'
import { authRoutes } from './auth.ts'
import { backupRoutes } from './backup.ts'
import { restoreRoutes } from './restore.ts'
import { baselineRoutes } from '#shared/central/api/fdd/baselines.ts'
import { commissionRoutes } from './commission.ts'
import { fddRoutes } from '#shared/central/api/fdd/fdd.ts'
import { findingRoutes } from '#shared/central/api/fdd/findings.ts'
import { snoozeRoutes } from '#shared/central/api/fdd/snoozes.ts'
import { healthRoutes } from './health.ts'
import { importRoutes } from './import.ts'
import { misdatedRoutes } from './misdated.ts'
import { modelRoutes } from './model.ts'
import { modelExchangeRoutes } from './model-exchange.ts'
import { legacyRoutes } from './legacy-api.ts'
import { paramRoutes } from '#shared/central/api/fdd/params.ts'
import { preferenceRoutes } from '#shared/central/api/people/preferences.ts'
import { publicRoutes } from './public.ts'
import { quantityRoutes } from '#shared/central/api/fdd/quantities.ts'
import { ruleFileRoutes } from '#shared/central/api/fdd/rule-files.ts'
import { ruleRoutes } from '#shared/central/api/fdd/rules.ts'
import { ruleVersionRoutes } from '#shared/central/api/fdd/rule-versions.ts'
import { savedTrendRoutes } from './saved-trends.ts'
import { searchRoutes } from './search.ts'
import { seriesRoutes } from '#shared/central/api/fdd/series.ts'
import { tenantRoutes } from './tenants.ts'
import { userRoutes } from '#shared/central/api/people/users.ts'

/** Every route of central; API.md lists them, and a test compares. */
export const centralRoutes = (context: CentralParts, trigger: Trigger): Route[] => [
  ...healthRoutes(context),
  ...publicRoutes(context),
  ...authRoutes(context),
  ...ofHub(userRoutes(context)),
  ...preferenceRoutes(context),
  ...apiTokenRoutes(context),
  ...tenantRoutes(context),
  ...importRoutes(context),
  ...modelRoutes(context),
  ...modelExchangeRoutes(context),
  ...commissionRoutes(context),
  ...quantityRoutes(context),
  ...ruleRoutes(context),
  ...ruleFileRoutes(context),
  ...ruleVersionRoutes(context),
  ...fddRoutes(context),
  ...paramRoutes(context),
  ...baselineRoutes(context),
  ...findingRoutes(context),
  ...snoozeRoutes(context),
  ...seriesRoutes(context),
  ...savedTrendRoutes(context),
  ...searchRoutes(context),
  ...misdatedRoutes(context),
  ...analyticsRoutes(context),
  ...auditRoutes(context),
  ...backupRoutes(context),
  ...ofHub(restoreRoutes(context)),
  ...alertRoutes(context),
  ...legacyRoutes(context, trigger),
]

/** The pages of the process and its machine: System, Log and Settings. */
import { Type } from '@sinclair/typebox'
import type { CentralContext, CentralParts } from '#shared/central/context.ts'
import { healthOf } from '#shared/central/api/health.ts'
import { setLogLevel } from '#shared/central/commands/log-level.ts'
import { machineAddresses } from '#shared/central/diagnostics.ts'
import { readLog } from '#shared/central/inspection.ts'
import { LogLevelRequest } from '#shared/core/connector/inspection-wire.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import type { NavItem } from '#shared/central/ui/frame.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { readPublicCertificate } from '#shared/node/http/server-tls.ts'
import { type Call, oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import { readHardware } from '#shared/node/machine-hardware.ts'
import { machineTemperature, memoryUse, readMachine, timeSynced } from '#shared/node/machine.ts'
import { LOG_QUERY, logPart, logRequest } from './log.view.ts'
import { restartingCard } from './restarting.view.ts'
import { settingsBody } from './settings.view.ts'
import { systemBody } from './system.view.ts'
import { say, words } from '#shared/node/http/language.ts'

export const SYSTEM_PATH = '/system'
export const SYSTEM_PAGE = words({
  href: SYSTEM_PATH,
  text: 'System',
  about: 'Health, clock, disk, log, settings, diagnostics and updates',
} as const satisfies NavItem)
const AT = words({ title: 'System', current: SYSTEM_PATH }, 'title')

type SystemOptions = {
  context: CentralContext & Pick<CentralParts, 'restart'>
  layout: PageLayout
  /** Who may look. What changes something needs an admin. */
  auth: 'viewer' | 'admin'
  /** Sections that the product adds. */
  more: (call: Pick<Call<unknown, unknown, unknown>, 'caller'>) => Promise<Html | false>
}

export function systemPages({ context, layout, auth, more }: SystemOptions): Route[] {
  const { restart } = context
  return [
    route({
      method: 'GET',
      path: SYSTEM_PATH,
      auth,
      summary: 'The page of the process and its machine',
      handle: async call => {
        const { workspace, startedAt, version, inspection } = context
        const { tlsDir } = inspection
        const [{ checks }, { disk }, storage, certificate, temperature, hardware] = await Promise.all([
          healthOf(context),
          readMachine(workspace, startedAt),
          context.storage(),
          tlsDir === undefined ? undefined : readPublicCertificate(tlsDir).catch(() => undefined),
          machineTemperature(),
          readHardware(),
        ])
        const body = systemBody({
          ...{ version, startedAt, checks, disk, storage, certificate },
          history: context.historyExtent(),
          ...{ clockSynced: timeSynced(), memory: memoryUse(), temperature, hardware },
          addresses: machineAddresses(),
          restarts: restart !== undefined,
          isAdmin: call.caller?.role === 'admin',
          more: await more(call),
          here: layout.here(),
          csrf: layout.csrfOf(call.caller),
        })
        return layout.document(call, AT, body)
      },
    }),
    ...(restart ? [restartRoute(restart, layout)] : []),
    ...logPages(context, layout),
    route({
      method: 'GET',
      path: '/settings',
      auth: 'admin',
      summary: 'The page of settings with the source of each value',
      query: strict({ shown: Type.Optional(oneOf(['set', 'all'])) }),
      handle: call => {
        const body = settingsBody({ settings: context.inspection.effective, shown: call.query.shown ?? 'set' })
        return layout.document(call, { title: say`Settings`, current: SYSTEM_PATH }, body)
      },
    }),
  ]
}

const restartRoute = (restart: () => void, layout: PageLayout): Route =>
  route({
    method: 'POST',
    path: `${SYSTEM_PATH}/restart`,
    auth: 'admin',
    summary: 'The button that restarts the program',
    takes: 'form',
    body: strict({ sure: Type.Literal('yes') }),
    action: 'restart',
    handle: call => {
      call.audit({ subject: 'process' })
      call.reply.raw.once('finish', restart)
      const body = html`<h1>System</h1>${restartingCard(say`The program starts again`, SYSTEM_PATH)}`
      return layout.document(call, AT, body)
    },
  })

const logPages = (context: CentralContext, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/log',
    auth: 'admin',
    summary: 'The page of the newest lines of the log',
    query: strict(LOG_QUERY),
    handle: call => {
      const answer = readLog(context.inspection, logRequest(call.query))
      const shown = { answer, query: call.query, path: '/log', here: layout.here(), csrf: layout.csrfOf(call.caller) }
      const body = html`<p class="crumbs"><a href="${SYSTEM_PATH}">System</a></p>
<h1>Log</h1>
<p class="lead">The newest lines of this process since it started. All of them go to its standard error, too.</p>
${logPart(shown)}`
      return layout.document(call, { title: say`Log`, current: SYSTEM_PATH }, body)
    },
  }),
  route({
    method: 'POST',
    path: '/log/level',
    auth: 'admin',
    summary: 'The form that sets how much is logged until the next start',
    takes: 'form',
    body: LogLevelRequest,
    action: 'set_log_level',
    handle: call => {
      setLogLevel(context, call, call.body.level)
      return call.reply.redirect('/log', 303)
    },
  }),
]

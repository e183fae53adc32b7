/** The pages of the process and its machine: System, Log and Settings. */
import { Type } from '@sinclair/typebox'
import type { CentralContext } from '#shared/central/context.ts'
import { healthOf } from '#shared/central/api/health.ts'
import { setLogLevel } from '#shared/central/commands/log-level.ts'
import { machineAddresses } from '#shared/central/diagnostics.ts'
import { LOG_LEVELS, levelOf, readLog } from '#shared/central/inspection.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import type { NavItem } from '#shared/central/ui/frame.ts'
import type { Html } from '#shared/node/http/html.ts'
import { readPublicCertificate } from '#shared/node/http/server-tls.ts'
import { type Call, oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import { readMachine, timeSynced } from '#shared/node/machine.ts'
import { logBody } from './log.view.ts'
import { settingsBody } from './settings.view.ts'
import { systemBody } from './system.view.ts'

export const SYSTEM_PATH = '/system'
export const SYSTEM_PAGE = {
  href: SYSTEM_PATH,
  text: 'System',
  about: 'Health, clock, disk, log, settings, diagnostics and updates',
} as const satisfies NavItem
const AT = { title: 'System', current: SYSTEM_PATH }
/** Lines of the log that the page shows. */
const LINES_SHOWN = 200

type SystemOptions = {
  context: CentralContext
  layout: PageLayout
  /** Who may look. What changes something needs an admin. */
  auth: 'viewer' | 'admin'
  /** Sections that the product adds. */
  more: (call: Pick<Call<unknown, unknown, unknown>, 'caller'>) => Promise<Html | false>
  /** Ends the process, which is then started again; undefined where nobody would start it. */
  restart: (() => void) | undefined
}

export function systemPages({ context, layout, auth, more, restart }: SystemOptions): Route[] {
  return [
    route({
      method: 'GET',
      path: SYSTEM_PATH,
      auth,
      summary: 'The page of the process and its machine',
      handle: async call => {
        const { workspace, startedAt, version, inspection } = context
        const { tlsDir } = inspection
        const [{ checks }, { disk }, certificate] = await Promise.all([
          healthOf(context),
          readMachine(workspace, startedAt),
          tlsDir === undefined ? undefined : readPublicCertificate(tlsDir).catch(() => undefined),
        ])
        const body = systemBody({
          ...{ version, startedAt, checks, disk, certificate },
          history: context.historyExtent(),
          clockSynced: timeSynced(),
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
    ...(restart ? [restartRoute(restart)] : []),
    ...logPages(context, layout),
    route({
      method: 'GET',
      path: '/settings',
      auth: 'admin',
      summary: 'The page of settings with the source of each value',
      query: strict({ shown: Type.Optional(oneOf(['set', 'all'])) }),
      handle: call => {
        const body = settingsBody({ settings: context.inspection.effective, shown: call.query.shown ?? 'set' })
        return layout.document(call, { title: 'Settings', current: SYSTEM_PATH }, body)
      },
    }),
  ]
}

const restartRoute = (restart: () => void): Route =>
  route({
    method: 'POST',
    path: `${SYSTEM_PATH}/restart`,
    auth: 'admin',
    summary: 'The button that restarts the program',
    takes: 'form',
    body: strict({ sure: Type.Literal('yes') }),
    action: 'restart',
    handle: ({ reply, audit }) => {
      audit({ subject: 'process' })
      reply.raw.once('finish', restart)
      return reply.redirect(SYSTEM_PATH, 303)
    },
  })

const LEVEL = oneOf(LOG_LEVELS)

const logPages = (context: CentralContext, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/log',
    auth: 'admin',
    summary: 'The page of the newest lines of the log',
    query: strict({ level: Type.Optional(LEVEL) }),
    handle: call => {
      const { level: least = 'info' } = call.query
      const { inspection } = context
      const shown = { lines: readLog(inspection, least, LINES_SHOWN), least, level: levelOf(inspection) }
      const body = logBody({ ...shown, here: layout.here(), csrf: layout.csrfOf(call.caller) })
      return layout.document(call, { title: 'Log', current: SYSTEM_PATH }, body)
    },
  }),
  route({
    method: 'POST',
    path: '/log/level',
    auth: 'admin',
    summary: 'The form that sets how much is logged until the next start',
    takes: 'form',
    body: strict({ level: LEVEL }),
    action: 'set_log_level',
    handle: call => {
      setLogLevel(context, call, call.body.level)
      return call.reply.redirect('/log', 303)
    },
  }),
]

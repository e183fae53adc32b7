/** The API of the service that came before, for scripts that still speak it. */
import { Type } from '@sinclair/typebox'
import { isAbsolute, relative, resolve } from 'node:path'
import { Problem } from '#shared/core/problem.ts'
import { route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { CONFIG_BOUNDS } from '#shared/central/fdd/config.ts'
import type { Trigger } from '#shared/central/fdd/trigger.ts'
import { LEGACY_AUTH } from '#shared/central/api/fdd/rule-files.ts'
import { instantOrNull } from './record-views.ts'

const bounded = ([minimum, maximum]: readonly [number, number]) => Type.Number({ minimum, maximum })
export const legacyRoutes = (context: CentralParts, trigger: Trigger): Route[] => [
  ...configRoutes(context),
  ...triggerRoutes(context, trigger),
]

const configRoutes = ({ config, workspace }: CentralParts): Route[] => [
  route({
    ...LEGACY_AUTH,
    method: 'GET',
    path: '/config',
    summary: 'Settings of the FDD loop',
    handle: () => ({ ok: true, ...config.read() }),
  }),
  route({
    ...LEGACY_AUTH,
    method: 'PUT',
    path: '/config',
    summary: 'Changes settings of the FDD loop',
    body: strict({
      // What GET has answered may be sent back as it is.
      ok: Type.Optional(Type.Literal(true)),
      rules_dir: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
      rule_interval_hours: Type.Optional(bounded(CONFIG_BOUNDS.rule_interval_hours)),
      lookback_days: Type.Optional(bounded(CONFIG_BOUNDS.lookback_days)),
    }),
    action: 'put_config',
    problems: ['invalid'],
    handle: async ({ body: { ok: _ok, ...body }, audit }) => {
      const before = config.read()
      const after = { ...before, ...body }
      const inside = relative(workspace, resolve(workspace, after.rules_dir))
      if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) {
        throw new Problem('invalid', 'rules_dir lies in the workspace', [
          { pointer: '/rules_dir', message: 'leads out of the workspace' },
        ])
      }
      await config.write({ ...after, rules_dir: resolve(workspace, after.rules_dir) })
      audit({ subject: 'config', before, after })
      return { ok: true, ...config.read() }
    },
  }),
]

const triggerRoutes = ({ runs }: CentralParts, trigger: Trigger): Route[] => [
  route({
    ...LEGACY_AUTH,
    method: 'POST',
    path: '/run-fdd',
    summary: 'Asks for a run over every building within a minute',
    action: 'trigger_fdd',
    problems: ['not_ready'],
    handle: async ({ reply, audit }) => {
      await trigger.ask()
      audit({ subject: 'every building' })
      return reply.code(202).send({ ok: true, status: 'triggered' })
    },
  }),
  route({
    ...LEGACY_AUTH,
    method: 'GET',
    path: '/run-fdd/status',
    summary: 'Whether a run is asked for or under way, and how the last one ended',
    handle: () => {
      const { last_run_at, ...status } = runs.status()
      return { ok: true, ...status, triggered: trigger.isAsked(), last_run_at: instantOrNull(last_run_at) }
    },
  }),
]

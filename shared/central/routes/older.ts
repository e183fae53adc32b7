/** The API of the service that came before, for scripts that still speak it. */
import { Type } from '@sinclair/typebox'
import { isAbsolute, relative, resolve } from 'node:path'
import { Problem } from '#shared/core/problem.ts'
import { publishRules, RULE_FILENAME, type RuleShelf, type RuleText } from '#shared/flow/publish-rules.ts'
import { route, type Route, strict } from '#shared/node/route.ts'
import type { CentralParts } from '../context.ts'
import { CONFIG_BOUNDS } from '../fdd/config.ts'
import type { Trigger } from '../fdd/trigger.ts'
import { YAML_MAX } from './rules.ts'
import { instantOrNull } from './view.ts'

const FILE = strict({ file: Type.String({ pattern: RULE_FILENAME }) })
const bounded = ([minimum, maximum]: readonly [number, number]) => Type.Number({ minimum, maximum })
/** All of these take the key of the older API or an admin's token. */
const OLDER = { auth: 'admin', apiKey: true } as const

export const olderRoutes = (context: CentralParts, trigger: Trigger): Route[] => [
  ...configRoutes(context),
  ...fileRoutes(context),
  definitionsRoute(context),
  ...triggerRoutes(context, trigger),
]

const configRoutes = ({ config, workspace }: CentralParts): Route[] => [
  route({
    ...OLDER,
    method: 'GET',
    path: '/config',
    summary: 'Settings of the FDD loop',
    handle: () => ({ ok: true, ...config.read() }),
  }),
  route({
    ...OLDER,
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
    handle: ({ body: { ok: _ok, ...body }, audit }) => {
      const before = config.read()
      const after = { ...before, ...body }
      const inside = relative(workspace, resolve(workspace, after.rules_dir))
      if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) {
        throw new Problem('invalid', 'rules_dir lies in the workspace', [
          { pointer: '/rules_dir', message: 'leads out of the workspace' },
        ])
      }
      config.write({ ...after, rules_dir: resolve(workspace, after.rules_dir) })
      audit({ subject: 'config', before, after })
      return { ok: true, ...config.read() }
    },
  }),
]

const fileRoutes = ({ rules }: CentralParts): Route[] => [
  route({
    ...OLDER,
    method: 'GET',
    path: '/rules',
    summary: 'Deployed rule files',
    handle: async () => {
      const files = await rules.shelf(shelf => shelf.list())
      return {
        ok: true,
        count: files.length,
        files: files.map(({ filename, yaml }) => ({ filename, bytes: Buffer.byteLength(yaml) })),
      }
    },
  }),
  route({
    ...OLDER,
    method: 'GET',
    path: '/rules/:file',
    summary: 'One deployed rule file as it lies',
    params: FILE,
    problems: ['unknown_rule'],
    handle: async ({ params: { file }, reply }) =>
      reply.type('application/yaml').send((await rules.shelf(shelf => deployedFile(shelf, file))).yaml),
  }),
  route({
    ...OLDER,
    method: 'PUT',
    path: '/rules/:file',
    summary: 'Deploys one rule file that checks and passes its tests',
    params: FILE,
    takes: 'yaml',
    body: Type.String({ minLength: 1, maxLength: YAML_MAX }),
    bodyMax: 2 * YAML_MAX,
    action: 'put_rule',
    problems: ['rule_invalid', 'rule_tests_failed'],
    handle: async ({ params: { file }, body, audit }) => {
      const { check } = rules
      const done = await rules.shelf(shelf => publishRules([{ filename: file, yaml: body }], { shelf, check }, false))
      audit({ subject: file, after: done })
      return { ok: true, filename: file, changed: done.deployed.length === 1 }
    },
  }),
  route({
    ...OLDER,
    method: 'DELETE',
    path: '/rules/:file',
    summary: 'Removes one deployed rule file',
    params: FILE,
    action: 'delete_rule',
    problems: ['unknown_rule'],
    handle: async ({ params: { file }, audit }) => {
      const before = await rules.shelf(async shelf => {
        const there = await deployedFile(shelf, file)
        await shelf.change([], [file])
        return there
      })
      audit({ subject: file, before })
      return { ok: true, filename: file }
    },
  }),
]

/** Definitions are the rules' own words, read anew whenever they are asked for; there is no second table to fall behind. */
const definitionsRoute = ({ rules }: CentralParts) =>
  route({
    ...OLDER,
    method: 'POST',
    path: '/rules/sync-definitions',
    summary: 'Reads the fault definitions from the rules',
    action: 'sync_definitions',
    handle: async ({ audit }) => {
      const catalogue = await rules.catalogue()
      const definitions = catalogue.rules.map(({ id, title, kind, severity, equipment, source }) => {
        return { fault_id: id, title, category: kind, severity, equipment_types: equipment, description: title, source }
      })
      audit({ subject: 'definitions', after: { count: definitions.length } })
      return { ok: true, count: definitions.length, definitions, errors: catalogue.errors }
    },
  })

const triggerRoutes = ({ runs }: CentralParts, trigger: Trigger): Route[] => [
  route({
    ...OLDER,
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
    ...OLDER,
    method: 'GET',
    path: '/run-fdd/status',
    summary: 'Whether a run is asked for or under way, and how the last one ended',
    handle: () => {
      const { last_run_at, ...status } = runs.status()
      return { ok: true, ...status, triggered: trigger.isAsked(), last_run_at: instantOrNull(last_run_at) }
    },
  }),
]

/** @throws Problem unknown_rule */
async function deployedFile(shelf: RuleShelf, file: string): Promise<RuleText> {
  const found = (await shelf.list()).find(({ filename }) => filename === file)
  if (!found) throw new Problem('unknown_rule', `No file ${file} is deployed`)
  return found
}

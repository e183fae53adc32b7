/** Rule files and fault definitions, by the API of the service that came before, and definitions as the other lists are. */
import { Type } from '@sinclair/typebox'
import { readFile } from 'node:fs/promises'
import type { StoredDefinition } from '#shared/core/findings/fault-definition.ts'
import { Problem } from '#shared/core/problem.ts'
import { formatInstant } from '#shared/core/time.ts'
import { RULE_FILENAME } from '#shared/flow/fdd/publish-rules.ts'
import { route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { deployRules, removeRuleFile, syncDefinitions } from '#shared/central/commands/rules.ts'
import { cutPage, PAGE } from '#shared/central/api/list.ts'
import { YAML_MAX } from './rules.ts'
import { DEFINITIONS_ANSWER } from '#shared/central/api/schemas/rule-schemas.ts'

const FILE = strict({ file: Type.String({ pattern: RULE_FILENAME }) })
/** All of these take the key of the older API or an admin's token. */
export const LEGACY_AUTH = { auth: 'admin', apiKey: true } as const

export const ruleFileRoutes = (context: CentralParts): Route[] => [
  ...readRoutes(context),
  ...writeRoutes(context),
  ...definitionRoutes(context),
]

const readRoutes = ({ rules, ruleStates }: CentralParts): Route[] => [
  route({
    ...LEGACY_AUTH,
    method: 'GET',
    path: '/rules',
    summary: 'Files of the rules that run, shipped and deployed, and deployed files that do not check',
    handle: async () => {
      await finishDeployments(rules)
      const inactive = new Set(ruleStates.list().flatMap(({ active, rule_id }) => (active ? [] : rule_id)))
      const files = (await rules.files()).map(({ path: _path, changed_at, errors, ...file }) => ({
        ...file,
        active: file.rules.some(id => !inactive.has(id)),
        updated_at: formatInstant(Math.trunc(changed_at)),
        ...(errors.length > 0 && { errors }),
      }))
      return { ok: true, count: files.length, deployed: files.filter(({ shipped }) => !shipped).length, files }
    },
  }),
  route({
    ...LEGACY_AUTH,
    method: 'GET',
    path: '/rules/:file',
    summary: 'One listed rule file as it lies; a deployed one before a shipped one of the same name',
    params: FILE,
    problems: ['unknown_rule'],
    handle: async ({ params: { file }, reply }) => {
      const deployed = (await rules.withDeployed(deployedRules => deployedRules.list())).find(({ filename }) => filename === file)
      const yaml = deployed?.yaml ?? (await shippedText(rules, file))
      if (yaml === undefined) throw new Problem('unknown_rule', `There is no rule file ${file}`)
      return reply.type('application/yaml').send(yaml)
    },
  }),
]

/** Opening the folder finishes what a crash has left of a deployment. */
const finishDeployments = (rules: CentralParts['rules']) => rules.withDeployed(async () => undefined)

const shippedFile = async (rules: CentralParts['rules'], file: string) =>
  (await rules.files()).find(({ filename, shipped }) => shipped && filename === file)

async function shippedText(rules: CentralParts['rules'], file: string): Promise<string | undefined> {
  const found = await shippedFile(rules, file)
  return found && readFile(found.path, 'utf8')
}

const writeRoutes = (context: CentralParts): Route[] => [
  route({
    ...LEGACY_AUTH,
    method: 'PUT',
    path: '/rules/:file',
    summary: 'Deploys one rule file that checks and passes its tests',
    params: FILE,
    takes: 'yaml',
    body: Type.String({ minLength: 1, maxLength: YAML_MAX }),
    bodyMax: 2 * YAML_MAX,
    action: 'put_rule',
    problems: ['rule_invalid', 'rule_tests_failed'],
    handle: async call => {
      const filename = call.params.file
      const done = await deployRules(context, call, [{ filename, yaml: call.body }])
      return { ok: true, filename, changed: done.deployed.length === 1 }
    },
  }),
  route({
    ...LEGACY_AUTH,
    method: 'DELETE',
    path: '/rules/:file',
    summary: 'Removes one deployed rule file; a shipped rule of the same id counts again',
    params: FILE,
    action: 'delete_rule',
    problems: ['unknown_rule', 'conflict'],
    handle: async call => {
      const { file } = call.params
      await removeRuleFile(context, call, file)
      return { ok: true, filename: file }
    },
  }),
]

const definitionRoutes = (context: CentralParts): Route[] => [
  route({
    ...LEGACY_AUTH,
    method: 'POST',
    path: '/rules/sync-definitions',
    summary: 'Makes the table of fault definitions say what the rules say now',
    action: 'sync_definitions',
    handle: async ({ audit }) => {
      const { errors, ...counts } = await syncDefinitions(context)
      audit({ subject: 'definitions', after: counts })
      const definitions = context.definitions.list().filter(({ retired_at }) => retired_at === undefined)
      return { ok: true, count: definitions.length, ...counts, definitions: definitions.map(definitionView), errors }
    },
  }),
  route({
    method: 'GET',
    path: '/api/fault-definitions',
    auth: 'viewer',
    anyBuilding: true,
    summary: 'The table of fault definitions as it was synchronised last, with those that no rule finds any more',
    query: strict(PAGE),
    reply: DEFINITIONS_ANSWER,
    problems: ['bad_cursor'],
    handle: ({ query }) => {
      const all = context.definitions.list()
      const { items, ...more } = cutPage(all, query, ({ fault_id }) => fault_id)
      return { ok: true, count: all.length, definitions: items.map(definitionView), ...more }
    },
  }),
]

const definitionView = ({ updated_at, retired_at, ...definition }: StoredDefinition) => ({
  ...definition,
  updated_at: formatInstant(updated_at),
  ...(retired_at !== undefined && { retired_at: formatInstant(retired_at) }),
})

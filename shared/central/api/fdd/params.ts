/** Parameters of rules: their settings, and backtests of other values. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { needBuilding, needRule } from '#shared/core/lookup.ts'
import { paramUses, unitOfParam } from '#shared/core/rules/check/param-settings.ts'
import { formatInstant } from '#shared/core/time.ts'
import { type ListedSetting, listParams } from '#shared/flow/fdd/tune-param.ts'
import { route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { ruleOwnerView } from '#shared/central/fdd/rule-owner.ts'
import {
  BACKTEST_DAYS,
  BACKTEST_DAYS_DEFAULT,
  removeRuleParam,
  SETTING,
  SETTING_VALUE,
  setRuleParam,
  settingSubject,
  tuningPorts,
  UNIT,
} from '#shared/central/commands/params.ts'
import { backtestView } from './backtest-view.ts'
import { YAML_MAX } from './rules.ts'
import { cutPage, PAGE } from '#shared/central/api/list.ts'
import {
  BACKTEST_ANSWER,
  PARAMS_ANSWER,
  SETTING_ANSWER,
  SETTING_REMOVED,
  SETTINGS_ANSWER,
} from '#shared/central/api/schemas/tuning-schemas.ts'

const DRY_RUN = Type.Optional(Type.Boolean())

export const paramRoutes = (context: CentralParts): Route[] => [
  ...readRoutes(context),
  ...writeRoutes(context),
  backtestRoute(context),
]

const readRoutes = (context: CentralParts): Route[] => [
  route({
    method: 'GET',
    path: '/api/fdd/params',
    auth: 'viewer',
    summary: 'Parameters that people have set for a building, and why one of them does not count',
    query: strict({ building_id: ID, rule_id: Type.Optional(ID), ...PAGE }),
    reply: SETTINGS_ANSWER,
    problems: ['unknown_building', 'bad_cursor'],
    handle: async ({ query }) => {
      const all = listParams(query.building_id, tuningPorts(context, await context.rules.catalogue()))
      const asked = all.filter(({ rule_id }) => query.rule_id === undefined || rule_id === query.rule_id)
      const { items, ...more } = cutPage(asked, query, settingSubject)
      return { ok: true, settings: items.map(settingView), ...more, ...ruleOwnerView(context, query.building_id) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/fdd/params/:rule_id',
    auth: 'viewer',
    summary: 'The parameters of a rule, and which value counts for which equipment of a building',
    params: strict({ rule_id: ID }),
    query: strict({ building_id: ID }),
    reply: PARAMS_ANSWER,
    problems: ['unknown_building', 'unknown_rule'],
    handle: async ({ params: { rule_id }, query: { building_id } }) => {
      const { model, paramSettings } = context
      const { site_id } = needBuilding(model, building_id)
      const owner = needRule((await context.rules.catalogue()).byId, rule_id)
      const settings = paramSettings.list({ site_id, building_id })
      const equipment = model.equipment(building_id)
      const params = Object.entries(owner.params).map(([param, { default: value, min, max, perRole, unit }]) => ({
        param,
        default: value,
        ...(perRole && { per_role: perRole }),
        min,
        max,
        unit: unit === 'any' ? unit : unitOfParam(owner.params[param]!, undefined),
        in_use: paramUses(owner, param, settings, equipment),
      }))
      return { ok: true, building_id, rule_id, params, ...ruleOwnerView(context, building_id) }
    },
  }),
]

const writeRoutes = (context: CentralParts): Route[] => [
  route({
    method: 'PUT',
    path: '/api/fdd/params',
    auth: 'operator',
    wholeSite: true,
    summary: 'Sets a parameter of a rule for a site, a type of equipment or one equipment',
    body: strict({ ...SETTING, ...SETTING_VALUE, unit: UNIT }),
    query: strict({ dry_run: DRY_RUN }),
    reply: SETTING_ANSWER,
    action: 'set_param',
    problems: ['unknown_building', 'unknown_equipment', 'unknown_rule', 'invalid'],
    handle: async call => {
      const { body, query } = call
      const { before, after } = await setRuleParam(context, call, body, query.dry_run)
      return {
        ok: true,
        setting: settingView(after),
        ...(before && { before: settingView(before) }),
        ...ruleOwnerView(context, body.building_id),
      }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/fdd/params',
    auth: 'operator',
    wholeSite: true,
    summary: 'Takes a setting of a parameter away, so that what is wider counts again',
    query: strict({ ...SETTING, dry_run: DRY_RUN }),
    reply: SETTING_REMOVED,
    action: 'remove_param',
    problems: ['unknown_building', 'not_found'],
    handle: call => {
      const { dry_run, ...name } = call.query
      const before = removeRuleParam(context, call, name, dry_run)
      return { ok: true, removed: settingView(before), ...ruleOwnerView(context, name.building_id) }
    },
  }),
]

const { param: _param, ...TRIED } = SETTING
/** Values of parameters, or the text of a rule. */
const TRIAL = Type.Union([
  strict({
    ...TRIED,
    params: Type.Record(Type.String(), Type.Number(), { minProperties: 1, maxProperties: 100 }),
    scope: Type.Optional(SETTING.scope),
    days: BACKTEST_DAYS,
  }),
  strict({ building_id: ID, yaml: Type.String({ minLength: 1, maxLength: YAML_MAX }), days: BACKTEST_DAYS }),
])

const backtestRoute = (context: CentralParts) =>
  route({
    method: 'POST',
    path: '/api/fdd/backtest',
    auth: 'operator',
    summary: 'What other values of parameters, or another text of a rule, would have found; stores nothing',
    body: TRIAL,
    reply: BACKTEST_ANSWER,
    action: 'backtest',
    problems: [
      'unknown_building',
      'unknown_equipment',
      'unknown_rule',
      'invalid',
      'rule_invalid',
      'run_in_progress',
      'query_failed',
    ],
    handle: async ({ body: { days = BACKTEST_DAYS_DEFAULT, ...trial } }) => {
      const report = await context.backtests.run('yaml' in trial ? { ...trial, days } : { scope: 'site', ...trial, days })
      return { ...backtestView(report), ...ruleOwnerView(context, trial.building_id) }
    },
  })

const settingView = (setting: ListedSetting) => ({ ...setting, changed_at: formatInstant(setting.changed_at) })

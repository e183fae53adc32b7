/** Backtest: what another value of a parameter, or another text of a rule, would have found. Nothing is stored. */
import { EQUIPMENT_TYPES, type Equipment } from '#shared/core/model/model.ts'
import type { RunPorts } from './run-fdd.ts'
import { needBuilding, refuseUnknownEquipment } from '#shared/core/lookup.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import type { RuleResult } from '#shared/core/findings/finding.ts'
import { type ComparedEquipment, compareFindings } from '#shared/core/rules/report/compare-findings.ts'
import { withExplainers } from '#shared/core/rules/episodes/suppress.ts'
import {
  appliesToType,
  type ParamOwner,
  paramOwner,
  type ParamScope,
  type ParamSetting,
  settingProblem,
  unitOfParam,
  withProposed,
} from '#shared/core/rules/check/param-settings.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import { DAY } from '#shared/core/time.ts'
import { type EvaluateJob, type EvaluatePorts, evaluateRules } from './evaluate-rules.ts'
import { endOf, VISITS_BEFORE } from './run-fdd.ts'

/** Longest span of a backtest, days: a month, which is read twice while a person waits. */
export const BACKTEST_DAYS_MAX = 31

type BacktestSpan = {
  building_id: string
  /** 1 to `BACKTEST_DAYS_MAX` days up to now, or up to the end of history. */
  days: number
}
/** Values of parameters to try. */
export type ParamTrial = BacktestSpan & {
  rule_id: string
  /** Parameter → proposed value in its own unit. */
  params: Record<string, number>
  scope: ParamScope
  /** Equipment type or equipment id; the site's needs none. */
  scope_id?: string
  /** For a rule that runs over roles: the only role to which the values apply. */
  role?: string
}
/** The text of a rule to try in the place of the rule that has its id now, with the parameters that people have set. */
type DraftTrial = BacktestSpan & { yaml: string }
export type BacktestRequest = ParamTrial | DraftTrial
/** Plain data that is sent to another process. */
export type BacktestJob = { job: EvaluateJob; request: (ParamTrial & { scope_id: string }) | DraftTrial }
export type BacktestReport = {
  building_id: string
  rule_id: string
  from: number
  to: number
  /** Whether there is a rule of this id now; without one there are no findings to compare with. */
  is_deployed: boolean
  /** The proposed settings. */
  settings: ParamSetting[]
  /** By equipment to which the change applies, including equipment without episodes. */
  equipment: (ComparedEquipment & { result_before?: RuleResult; result_after?: RuleResult })[]
  failed: { equipment_id: string; error: string }[]
}

export type BacktestPorts = Pick<
  RunPorts,
  'model' | 'ruleStates' | 'paramSettings' | 'baselines' | 'historian' | 'priority' | 'clock'
>

/** @throws Problem unknown_building, unknown_equipment, or invalid for a scope that is none */
export async function prepareBacktest(request: BacktestRequest, ports: BacktestPorts): Promise<BacktestJob> {
  const { model, ruleStates, paramSettings, baselines, historian, clock } = ports
  const { building_id, days } = request
  const building = needBuilding(model, building_id)
  const equipment = model.equipment(building_id)
  const tried = 'yaml' in request ? request : { ...request, scope_id: scopeIdOf(request, building.site_id, equipment) }
  const to = endOf(building_id, days * DAY, historian, clock.now())
  const from = to - days * DAY
  const points = model.points(building_id)
  const point_ids = points.filter(({ role }) => role !== undefined).map(({ point_id }) => point_id)
  const visits = await ports.priority?.snapshots(building_id, { from: from - VISITS_BEFORE, to, point_ids })
  const job: EvaluateJob = {
    building,
    equipment,
    points,
    from,
    to,
    rule_ids: undefined,
    inactive: ruleStates.list().flatMap(({ rule_id, active }) => (active ? [] : rule_id)),
    equipment_ids: undefined,
    params: undefined,
    settings: paramSettings.list({ site_id: building.site_id, building_id }),
    resets: baselines.resets(building_id),
    carried: [],
    ...(visits && { visits }),
  }
  return { job, request: tried }
}

/** @returns the id for which a scope stands. @throws Problem unknown_equipment, or invalid */
export function scopeIdOf(
  { scope, scope_id, building_id }: { scope: ParamScope; scope_id?: string; building_id: string },
  site_id: string,
  equipment: Equipment[],
): string {
  const refuse = (message: string) => new Problem('invalid', message, [{ pointer: '/scope_id', message }])
  if (scope === 'site') {
    if (scope_id === undefined || scope_id === site_id) return site_id
    throw refuse(`The building ${building_id} is of the site ${site_id}, not of ${scope_id}`)
  }
  if (scope === 'type') {
    if (EQUIPMENT_TYPES.some(type => type === scope_id)) return scope_id!
    const given = scope_id === undefined ? 'is missing' : `is ${scope_id}`
    throw refuse(`scope_id ${given}: it takes an equipment type, ${EQUIPMENT_TYPES.join(', ')}`)
  }
  if (scope_id === undefined) throw refuse('scope_id is missing: it takes the id of an equipment of the building')
  refuseUnknownEquipment(building_id, equipment, [scope_id])
  return scope_id
}

/** Rules and settings of one side of the comparison. */
type Side = { rules: Rule[]; settings: ParamSetting[] }
/** `before` is missing where there is no rule of this id yet. */
type Trial = { rule_id: string; before?: Side; after: Side; equipment_ids: string[]; proposed: ParamSetting[] }

/**
 * Runs one rule as it is and as it is proposed.
 *
 * @throws Problem unknown_rule, invalid, or rule_invalid for a text that does not check
 */
export async function backtest({ job, request }: BacktestJob, ports: EvaluatePorts): Promise<BacktestReport> {
  const loaded = await ports.loadRules()
  const trial = 'yaml' in request ? draftTrial(request, loaded.rules, job) : paramTrial(request, loaded.rules, job)
  const { rule_id, equipment_ids, proposed } = trial
  const run = async (side: Side | undefined) => {
    if (!side) return { findings: [], results: [], failed: [] }
    const rule = side.rules.find(({ id }) => id === rule_id)!
    const active = side.rules.filter(({ id }) => id === rule_id || !job.inactive.includes(id))
    const rule_ids = withExplainers([rule], active).map(({ id }) => id)
    const loadRules = () => ({ ...loaded, rules: side.rules })
    return evaluateRules({ ...job, rule_ids, equipment_ids, settings: side.settings }, { ...ports, loadRules })
  }
  const before = await run(trial.before)
  const after = await run(trial.after)
  const own = <T extends { rule_id: string }>(items: T[]) => items.filter(item => item.rule_id === rule_id)
  const compared = compareFindings(own(before.findings), own(after.findings))
  const none = { episodes: 0, fault_secs: 0 }
  const equipment = equipment_ids.map(equipment_id => {
    const of = (results: RuleResult[]) => own(results).find(one => one.equipment_id === equipment_id)
    const [result_before, result_after] = [of(before.results), of(after.results)]
    const found = compared.find(one => one.equipment_id === equipment_id)
    return {
      ...(found ?? { equipment_id, before: none, after: none, episodes: [] }),
      ...(result_before && { result_before }),
      ...(result_after && { result_after }),
    }
  })
  const failed = own(after.failed).map(({ equipment_id, error }) => ({ equipment_id, error }))
  const { building_id } = request
  const is_deployed = trial.before !== undefined
  return { building_id, rule_id, from: job.from, to: job.to, is_deployed, settings: proposed, equipment, failed }
}

function paramTrial(request: ParamTrial & { scope_id: string }, rules: Rule[], { settings, equipment }: EvaluateJob): Trial {
  const { rule_id } = request
  const rule = rules.find(({ id }) => id === rule_id)
  if (!rule) throw new Problem('unknown_rule', `There is no rule ${rule_id}`)
  const proposed = proposedSettings(paramOwner(rule), request)
  return {
    rule_id,
    before: { rules, settings },
    after: { rules, settings: withProposed(settings, proposed) },
    equipment_ids: reached([rule], equipment, ({ equipment_type, equipment_id }) => {
      const { scope, scope_id } = request
      return scope === 'site' || scope_id === (scope === 'type' ? equipment_type : equipment_id)
    }),
    proposed,
  }
}

/** How errors name a text that has no file yet. */
const DRAFT = 'rule'

function draftTrial({ yaml }: DraftTrial, rules: Rule[], { settings, equipment }: EvaluateJob): Trial {
  const parsed = parseRule(yaml, DRAFT)
  if (!parsed.ok) {
    const errors = parsed.errors.map(({ line, column, message }): DataError => {
      return { pointer: `${DRAFT}:${line}:${column}`, row: line, message }
    })
    throw new Problem('rule_invalid', `line ${errors[0]!.row}: ${errors[0]!.message}`, errors)
  }
  const { rule } = parsed
  const current = rules.find(({ id }) => id === rule.id)
  const others = rules.filter(({ id }) => id !== rule.id)
  return {
    rule_id: rule.id,
    ...(current && { before: { rules, settings } }),
    after: { rules: [...others, rule].toSorted((a, b) => (a.id < b.id ? -1 : 1)), settings },
    equipment_ids: reached(current ? [current, rule] : [rule], equipment, () => true),
    proposed: [],
  }
}

/** @throws Problem invalid */
function proposedSettings(
  owner: ParamOwner,
  { rule_id, params, scope, scope_id, role }: ParamTrial & { scope_id: string },
): ParamSetting[] {
  const proposed = Object.entries(params).map(([param, value]): ParamSetting => {
    const spec = Object.hasOwn(owner.params, param) ? owner.params[param] : undefined
    const unit = spec ? unitOfParam(spec, role) : ''
    return { rule_id, param, scope, scope_id, value, unit, ...(role !== undefined && { role }) }
  })
  const errors = proposed.flatMap((setting): DataError[] => {
    const message = settingProblem(setting, owner)
    return message === undefined ? [] : [{ pointer: `/params/${setting.param}`, message }]
  })
  if (errors.length > 0) throw new Problem('invalid', errors[0]!.message, errors)
  return proposed
}

/** The equipment of the rules' types to which the change would apply. */
const reached = (rules: Rule[], equipment: Equipment[], applies: (one: Equipment) => boolean): string[] =>
  equipment
    .filter(({ equipment_type }) => rules.some(rule => appliesToType(rule, equipment_type)))
    .filter(applies)
    .map(({ equipment_id }) => equipment_id)
    .toSorted()

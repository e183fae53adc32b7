/** Gathers what the page of one fault shows: the inputs' history, the thresholds' run, the fault's own past. */
import { stretchesOf } from '#shared/core/findings/fault-time.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import { needFinding } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import { overridePeriods } from '#shared/core/priority/override-periods.ts'
import { roleOfColumn } from '#shared/core/priority/array-snapshot.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { DAY, HOUR, SECOND } from '#shared/core/time.ts'
import { faultEvents } from './fault-events.ts'
import type { FaultModel, InputRow, Overridden, RuleWords, Window } from './fault.view.ts'
import { roleName, toCanonical, type Trace } from '#shared/central/ui/plot-trace.ts'
import { type Plot, type TimedEpisode, TRACES_MAX } from '#shared/central/ui/plot.ts'
import { clipSpans, endedAt, gapsOf, mergeSpans, totalLength, usualInterval, type Span } from '#shared/core/series/spans.ts'
import type { CentralContext, Reading } from '#shared/central/context.ts'
import { dataEnds } from '#shared/central/pages/data-freshness.ts'
import type { RuleView } from '#shared/central/fdd/rule-views.ts'

/** About one bucket for each two pixels of the wide plot. */
const BUCKETS = 480
/** Episodes of the same fault that the page lists and shades. */
const EPISODES_MAX = 20
/** Episodes among which these are looked for: a rule over every role has as many series of them as there are roles. */
const LOOKED_AT_MAX = 200

export type FaultContext = Reading<
  Pick<
    CentralContext,
    'model' | 'findings' | 'results' | 'notes' | 'audit' | 'historian' | 'priority' | 'rules' | 'edges' | 'live'
  >
>
type Input = { role: string; point: Point | undefined }

/** @throws Problem unknown_finding, or unknown_building when its model has gone */
export async function faultModel(
  context: FaultContext,
  finding_id: string,
  window: Window,
  at: Pick<FaultModel, 'here' | 'user' | 'csrf' | 'ended'>,
): Promise<FaultModel> {
  const { model, findings, results, notes } = context
  const finding = needFinding(findings, finding_id)
  const { building_id, equipment_id, rule_id } = finding
  const building = model.building(building_id)
  if (!building) throw new Problem('unknown_building', `The building ${building_id} of this finding is not known`)
  const equipment = model.equipment(building_id)
  const rule = ruleWords((await context.rules.catalogue()).byId.get(rule_id), finding)
  const inputs = inputsOf(finding, rule, equipment, model.points(building_id))
  const listed = findings.list({ building_id, equipment_id, rule_id, limit: LOOKED_AT_MAX })
  const episodes = listed.filter(({ role }) => role === finding.role).slice(0, EPISODES_MAX)
  const here = { ...at.here, timezone: building.timezone }
  const dataEnd = dataEnds(context, [building_id], here.now).get(building_id)
  const span = windowOf(finding, window, dataEnd, here.now)
  const known = dataEnd ?? here.now
  const overrides = await readOverrides(context, building_id, inputs, span)
  const history = await readInputs(context, building_id, inputs, span, known)
  const traces = history.flatMap(({ trace }) => trace ?? [])
  const rows = history.map(({ row }) => row(Math.min(span.to, known)))
  return {
    ...at,
    here,
    dataEnd,
    finding,
    note: notes.of(finding, here.now),
    events: faultEvents(context.audit, finding),
    building,
    equipment: equipment.find(one => one.equipment_id === equipment_id),
    window,
    plot: {
      ...plotOf(finding, episodes, building, traces.slice(0, TRACES_MAX), span, { now: here.now, known }),
      overrides: overrides.map(({ role, held }) => ({ name: roleName(role), held })),
    },
    overrides,
    inputs: rows,
    notPlotted: traces.slice(TRACES_MAX).map(({ role }) => role),
    rule,
    result: results.latestOf(building_id, equipment_id, rule_id),
    history: episodes.map(one => ({ finding: one, note: notes.of(one, here.now) })),
    silencedBy: finding.suppressed_by === undefined ? undefined : findings.get(finding.suppressed_by),
    relabelledBy: finding.relabelled_by === undefined ? undefined : findings.get(finding.relabelled_by),
  }
}

/**
 * The rule's inputs with the points that stand for them: the equipment's own, else what feeds it, else the weather's.
 * Those come first that it cannot do without (in the order of its file), then those that its condition names, then
 * those that only say when it looks: the plot has room for some.
 */
function inputsOf(finding: Finding, rule: RuleWords | undefined, equipment: Equipment[], points: Point[]): Input[] {
  const { equipment_id, role, evidence } = finding
  const parent = equipment.find(one => one.equipment_id === equipment_id)?.parent_id
  const feeders = equipment.filter(({ feeds }) => feeds?.includes(equipment_id)).map(one => one.equipment_id)
  const weather = equipment.filter(({ equipment_type }) => equipment_type === 'weather').map(one => one.equipment_id)
  const places = [equipment_id, parent, ...feeders, ...weather]
  const find = (role: string) =>
    places.flatMap(place =>
      place === undefined ? [] : (points.find(point => point.role === role && point.equipment_id === place) ?? []),
    )[0]
  // A function of a priority array refers to its role's point.
  const seen = [
    ...new Set([...(role === undefined ? [] : [role]), ...Object.keys(evidence.inputs)].map(name => roleOfColumn(name) ?? name)),
  ]
  const condition = new Set([evidence.expression, ...Object.values(rule?.lets ?? {})].join(' ').match(/\w+/g))
  const needed = rule?.roles.filter(name => seen.includes(name)) ?? []
  const spoken = seen.filter(name => condition.has(name))
  return [...new Set([...needed, ...spoken, ...seen])].map(name => ({ role: name, point: find(name) }))
}

/** Of a plot that ends with its data, so much is left empty to show that. */
const AFTER_END = 0.05

/** The episode with an hour or a quarter of its length on both sides, or a day or week that ends with it. */
function windowOf({ from, to }: Finding, window: Window, dataEnd: number | undefined, now: number): Span {
  const known = dataEnd ?? now
  const end = Math.min(to ?? known, known)
  const margin = Math.max(HOUR, (end - from) / 4)
  const until = Math.min(end + margin, known)
  const start = window === 'day' ? until - DAY : window === 'week' ? until - 7 * DAY : from - margin
  return { from: start, to: until === dataEnd ? until + AFTER_END * (until - start) : until }
}

function ruleWords(rule: RuleView | undefined, { role }: Finding): RuleWords | undefined {
  if (!rule) return undefined
  const { source, roles, gate, lets, each } = rule
  const here = each && role !== undefined ? { [each.name]: role } : {}
  return { source, roles: Object.keys(roles), gate, lets: { ...here, ...lets } }
}

type History = { trace: Trace | undefined; row: (until: number) => InputRow }

/** @param known until when something can be known */
async function readInputs(
  { historian, live }: FaultContext,
  building_id: string,
  inputs: Input[],
  span: Span,
  known: number,
): Promise<History[]> {
  const point_ids = inputs.flatMap(({ point }) => point?.point_id ?? [])
  const [read, spans] = point_ids.length
    ? await Promise.all([
        historian.buckets({ building_id, point_ids, ...span, maxBuckets: BUCKETS }),
        historian.spans(building_id, point_ids),
      ])
    : [[], []]
  const newest = new Map(spans.map(({ point_id, last }) => [point_id, Math.max(last, live?.(building_id, point_id)?.t ?? last)]))
  const byPoint = new Map(point_ids.map((point_id, i) => [point_id, read[i]!]))
  return inputs.map(({ role, point }) => {
    const buckets = point && byPoint.get(point.point_id)
    const canonical = point && buckets && toCanonical(buckets, point.unit, role)
    if (!canonical) return { trace: undefined, row: () => ({ role, point, samples: 0, coverage: null }) }
    const samples = canonical.count.reduce((sum, n) => sum + n, 0)
    const nominalMs = point.poll_secs === undefined ? usualInterval(canonical) : point.poll_secs * SECOND
    const ended_at = endedAt(newest.get(point.point_id) ?? null, nominalMs, known)
    const trace = { role, buckets: canonical, nominalMs, ...(ended_at !== undefined && { ended_at }) }
    const covered = (until: number) => {
      const gaps = mergeSpans(clipSpans(gapsOf(canonical, nominalMs, until), span.from, until))
      return samples ? 1 - totalLength(gaps) / Math.max(1, until - span.from) : 0
    }
    return { trace, row: (until: number) => ({ role, point, samples, coverage: covered(until) }) }
  })
}

/** Visits before the window: the one that opens a stretch within it. */
const VISITS_BEFORE = DAY

async function readOverrides(
  { priority }: FaultContext,
  building_id: string,
  inputs: Input[],
  { from, to }: Span,
): Promise<Overridden[]> {
  const point_ids = inputs.flatMap(({ point }) => point?.point_id ?? [])
  const visits =
    point_ids.length && priority ? await priority.snapshots(building_id, { from: from - VISITS_BEFORE, to, point_ids }) : {}
  return inputs.flatMap(({ role, point }) => {
    const scale = point && conversion(point.unit, ROLES[role]?.unit ?? point.unit)
    const held = overridePeriods((point && visits[point.point_id]) ?? []).filter(one => one.to > from)
    if (!scale || held.length === 0) return []
    return [{ role, held: held.map(one => ({ ...one, value: one.value * scale.scale + scale.offset })) }]
  })
}

/** @param known until when something can be known, which is before `now` where data ended */
function plotOf(
  finding: Finding,
  episodes: Finding[],
  building: Building,
  traces: Trace[],
  span: Span,
  { now, known }: { now: number; known: number },
): Plot {
  const timed = (one: Finding): TimedEpisode => ({ from: one.from, to: one.to ?? known, stretches: stretchesOf(one, known) })
  const others = episodes.filter(({ finding_id }) => finding_id !== finding.finding_id).map(timed)
  return {
    ...span,
    now,
    until: Math.min(span.to, known),
    timezone: building.timezone,
    system: building.unit_system,
    traces,
    episode: timed(finding),
    others,
    worst_at: finding.evidence.worst_at,
  }
}

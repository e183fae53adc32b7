/** Names, errors and notes come from devices, files and people: none may become markup, wherever it is shown. */
import test from 'ava'
import { html } from '#shared/node/http/html.ts'
import type { Quantity } from '#shared/core/model/quantity.ts'
import { loginBody, problemBody } from '#shared/central/pages/login.view.ts'
import { faultBody } from '#shared/central/pages/faults/fault.view.ts'
import { faultsBody } from '#shared/central/pages/faults/faults.view.ts'
import { DEFAULT_QUERY, groupRows, toRows } from '#shared/central/pages/faults/fault-list.ts'
import { page } from '#shared/central/ui/frame.ts'
import { partOf } from '#shared/central/ui/pager.ts'
import { baselinesBody } from '#shared/central/pages/settings/baselines.view.ts'
import { paramBody } from '#shared/central/pages/settings/param.view.ts'
import { paramsBody } from '#shared/central/pages/settings/params.view.ts'
import { quantitiesBody } from '#shared/central/pages/settings/quantities.view.ts'
import { countResults, summaryOf } from '#shared/core/runs/run-summary.ts'
import { type RunPanel, runPanel } from '#shared/central/ui/run-panel.ts'
import { runsBody } from '#shared/central/pages/runs.view.ts'
import { homeBody } from '#appliance/pages/home.view.ts'
import { BUILDING, COOLING, LATEST, NOW, POINTS, RUN } from '../../../support/page-fixture.ts'
import { noPoison } from '../../../support/pages/poison.ts'

const here = { now: NOW, timezone: BUILDING.timezone }
const user = (text: string) => ({ name: text, role: text, mayOperate: true })

const RANGE = { low: 1, mid: 2, high: 3 }
const SUMS = { up: 1, up_sure: 1, up_gauge: 1, down: 0, down_sure: 0, down_gauge: 0 }
const use = { carrier: 'electricity', ...RANGE } as const
const note = (text: string) => ({ finding_id: text, ack: 'acked' as const, note: text, not_a_fault: text })
const poisoned = (text: string) => ({
  ...COOLING,
  finding_id: text,
  equipment_id: text,
  rule_id: text,
  title: text,
  cause: [{ component: text, weight: 1 }],
  role: text,
  waste: { kind: 'cooling', measure: 'kelvin', gauge: text, hours: 1, ...SUMS } as const,
  impact: { kind: 'cooling' as const, ...RANGE, unit: text, basis: [text], energy: [use] },
  not_priced: [
    { what: 'quantity', name: text, equipment_id: text, why: text } as const,
    { what: 'point', name: text, equipment_id: text } as const,
  ],
  evidence: {
    ...COOLING.evidence,
    baselines: [{ name: text, value: 1, spread: 1, days_used: 1, dates: [text], left_out: [], cold: true }],
    expression: text,
    sentence: text,
    terms: [{ text, holds: true }],
    inputs: { [text]: 1 },
    params: { [text]: { value: 1, unit: text, source: 'default' as const } },
  },
})

test('the frame escapes', t =>
  noPoison(t, text =>
    page(
      {
        site: {
          product: 'hub',
          name: text,
          setup: [],
          nav: [{ href: text, text }],
          version: `${text}+${text}`,
          assets: {
            trends: text,
            trendParts: [text],
            uplot: text,
            uplotCss: text,
            css: text,
            script: text,
            htmx: text,
            icon: text,
          },
          open: false,
        },
        title: text,
        current: text,
        here,
        user: user(text),
        csrf: text,
      },
      loginBody({ next: text, error: text, name: text }),
    ),
  ))

const runsOf = (text: string): RunPanel => {
  const run = { run_id: text, building_id: text, trigger: 'request', asked_at: NOW, started_at: NOW, finished_at: null } as const
  return {
    live: [{ run: { ...run, state: 'running' }, progress: { step: 'history', equipment_done: 1, equipment_total: 2, rules: 3 } }],
    newest: { ...run, state: 'failed', reason: text },
    building_id: text,
    runsHere: true,
    nameOf: () => text,
    here,
    user: user(text),
    csrf: text,
  }
}

test('a problem page escapes', t => noPoison(t, text => problemBody({ title: text, detail: text, request_id: text })))

test('the list of faults escapes', t =>
  noPoison(t, text => {
    const child = { ...poisoned(text), finding_id: `child ${text}`, suppressed_by: text, role: 'sa_t' }
    const items = [poisoned(text), child].map(one => ({
      finding: one,
      note: { finding_id: one.finding_id, ack: 'unacked' as const, assignee: text },
    }))
    const rows = toRows(items, NOW).map(({ row }) => row)
    const of = { building_id: text, snooze_id: text, until: NOW + 1, reason: text, created_by: text, created_at: NOW }
    const targets = [{ equipment_id: text }, { rule_id: text }, { equipment_id: text, rule_id: text, finding_id: text }]
    const snoozes = targets.map(target => ({ snooze: { ...of, ...target }, here, building: text, equipment: text, rule: text }))
    return faultsBody({
      ...{ ended: text, snoozes, urgencies: { urgent: 1, chronic: 0 } },
      query: { ...DEFAULT_QUERY, lane: 'silenced', equipment: text, building: text, rule: text },
      here,
      groups: groupRows(rows, 'equipment', { equipment: () => text, building: () => text }),
      counts: { faults: 1, overrides: 0, data: 0, silenced: 0 },
      ...{ equipmentWords: () => text, ruleWords: () => text, part: { page: 1, pages: 2 } },
      ...{ mayOperate: true, csrf: text, done: { action: 'ack', count: 1, finding_ids: [text] } },
      buildings: [BUILDING, { ...BUILDING, building_id: text, name: text }],
      equipmentName: () => text,
      dataEnds: new Map(),
      lastRuns: [
        {
          building_id: text,
          finished_at: NOW,
          failed: 1,
          standing: { ...countResults(RUN.results), checks: RUN.results.length, looked_to: NOW, remarkable: LATEST },
        },
      ],
      boxes: [{ name: text, building_id: text, last_check_at: null, last_data_at: NOW }],
      runs: runsOf(text),
      together: [{ building: { ...BUILDING, name: text }, energy: [use], prices: { currency: text, electricity: 1 } }],
    })
  }))

test('the page of quantities escapes', t =>
  noPoison(t, text => {
    const quantity: Quantity = {
      quantity_id: text,
      building_id: text,
      equipment_id: text,
      property: 'ratedCOP',
      numeric_value: 0,
      unit_code: text,
      quantity_kind: 'Efficiency',
      value_basis: 'Rated',
      source_type: text,
      source_reference: text,
    }
    const building = { ...BUILDING, building_id: text, name: text }
    return quantitiesBody({
      buildings: [BUILDING, building],
      building,
      ruleOwner: { site_id: text, edge_id: text, name: text },
      equipment: [{ equipment_id: text, building_id: text, name: text, equipment_type: 'ahu' }],
      quantities: [quantity],
      prices: { currency: text, electricity: 1 },
      wanted: [{ gap: { what: 'quantity', name: text, equipment_id: text, why: text }, faults: 1 }],
      begin: { equipment: text, property: text, quantity },
      user: user(text),
      csrf: text,
    })
  }))

test('the runs of the rules escape', t =>
  noPoison(t, text => html`${runPanel(runsOf(text))}${runPanel({ ...runsOf(text), live: [] })}`))

test('the page of runs escapes', t =>
  noPoison(t, text => {
    const building = { ...BUILDING, building_id: text, name: text }
    const { live, newest } = runsOf(text)
    const over = { ...newest!, run_id: text, state: 'failed', finished_at: NOW, reason: text } as const
    const record = { ...summaryOf(RUN), run_id: text, rule_ids: [text], failed: [{ rule_id: text, error: text }] }
    return runsBody({
      building,
      buildings: [BUILDING, building],
      runs: [{ run: over }, { run: { ...over, state: 'cancelled' } }, { run: { ...over, state: 'done' }, record }],
      next: text,
      ruleOwner: { site_id: text, edge_id: text, name: text },
      panel: { ...runsOf(text), live },
      brief: {
        building_id: text,
        results: [
          {
            rule_id: text,
            equipment_id: text,
            unconfirmed: { date: text, role: text, short: [{ of: 'window', held_secs: 1, needs_secs: 2 }] },
          },
        ],
        titleOf: () => text,
        nameOf: () => text,
      },
      here,
    })
  }))

test('the page of one fault escapes', t =>
  noPoison(t, text => {
    const finding = poisoned(text)
    const column = Float64Array.of(1, 2)
    const buckets = { from: NOW - 2000, step: 1000, min: column, max: column, mean: column, last: column, count: column }
    return faultBody(
      {
        finding,
        note: {
          ...{ ...note(text), assignee: text, snoozed_until: here.now + 1, snooze_reason: text },
          ...{ snoozed_by: text, snooze_id: text, snooze_scope: 'rule' },
        },
        ended: text,
        events: [
          { at: NOW, actor: text, before: {}, after: { ...note(text), assignee: text, snoozed_until: NOW, snooze_reason: text } },
        ],
        building: { ...BUILDING, name: text },
        equipment: { equipment_id: text, building_id: text, name: text, equipment_type: 'ahu' },
        window: 'episode',
        here,
        dataEnd: undefined,
        overrides: [{ role: text, held: [{ from: NOW - 2000, to: NOW, slot: 8, value: 1 }] }],
        plot: {
          from: NOW - 2000,
          to: NOW,
          now: NOW,
          until: NOW,
          timezone: here.timezone,
          system: 'us',
          traces: [{ role: text, buckets, nominalMs: 1000 }],
          overrides: [{ name: { words: text, code: text }, held: [{ from: NOW - 2000, to: NOW, slot: 8, value: 1 }] }],
          episode: { from: NOW - 2000, to: NOW, stretches: [[NOW - 2000, NOW, 1000]] },
          others: [],
          worst_at: NOW - 1000,
        },
        inputs: [
          {
            role: text,
            point: { ...POINTS[0]!, point_id: text, name: text, unit: text, source: { protocol: 'csv', address: text } },
            samples: 1,
            coverage: 0.5,
          },
        ],
        notPlotted: [text],
        rule: { source: text, gate: text, lets: { [text]: text }, roles: [text] },
        result: LATEST[0],
        history: [{ finding: { ...finding, finding_id: `${text}2` }, note: note(text) }],
        silencedBy: finding,
        relabelledBy: finding,
        user: user(text),
        csrf: text,
      },
      { trends: text, trendParts: [text], uplot: text, uplotCss: text },
    )
  }))

test('Home escapes', t =>
  noPoison(t, text =>
    homeBody({
      identity: { name: text, edge_id: text, site_id: text, building: text },
      version: text,
      stepsLeft: 1,
      unstored_since: null,
      here,
      poll: {
        running: false,
        points: { ok: 1, stale: 1, down: 1, fault: 1, disabled: 1, unknown: 1 },
        devices: [{ device_id: text, name: text, state: 'fault', since: NOW, last_ok_at: null, last_error: text }],
        last_read_at: null,
      },
      open: { 1: 1, 2: 0, 3: 0, data: 0, overrides: 0 },
      worst: [
        {
          finding: poisoned(text),
          note: { ack: 'unacked' } as never,
          priority: 1,
          equipment: text,
          cost: { ...RANGE, unit: text },
        },
      ],
      ...{ waste: [], unit_system: 'si', history: [] },
      overrides: {
        seen: 1,
        held: 1,
        aged: 1,
        outOfService: 1,
        oldest: undefined,
        last_visit_at: null,
        off: text,
        damage: undefined,
      },
      run: { running: true, live: runsOf(text).live, nameOf: () => text, last_error: text, last: null, next_at: NOW },
      hub: {
        state: 'connecting',
        reason: text,
        backlog: 1,
        oldest_at: NOW,
        drain_per_min: null,
        dropped: 1,
        thinned: 0,
        rejected: 1,
        last_ack_at: null,
        cert_not_after: null,
        clock_offset_ms: null,
      },
      box: { disk: { free_bytes: 1, total_bytes: 2 }, clock_synced: false, started_at: NOW },
      isClockSet: false,
      user: { ...user(text), mayOperate: false },
      csrf: text,
    }),
  ))

test('parameters, what was tried and baselines escape', t =>
  noPoison(t, text => {
    const building = { ...BUILDING, building_id: text, name: text, site_id: text }
    const key = { rule_id: text, equipment_id: text, building_id: text, role: text, name: text }
    const by = { changed_by: text, changed_at: NOW, note: text }
    const scope = { scope: 'equipment', scope_id: text, site_id: text, building_id: text } as const
    const setting = { ...key, ...scope, ...by, param: text, value: 1, unit: text, problem: text }
    const base = { building, buildings: [building, BUILDING], settings: [setting], here, user: user(text), csrf: text }
    const none = { episodes: 0, fault_secs: 0 }
    const result = {
      rule_id: text,
      equipment_id: text,
      status: 'not_evaluated',
      coverage: 0,
      fault_secs: 0,
      episodes: 0,
    } as const
    const tried = { equipment_id: text, before: none, after: none, result_after: result }
    const view = {
      date: text,
      value: 1,
      spread: 1,
      days_used: 1,
      dates: [text],
      left_out: [{ date: text, why: text }],
      cold: true,
    }
    const baseline = { ...key, ...view, unit: text, fallback: 1, tolerance_cold: 1, min_days: 2 }
    const equipment = { equipment_id: text, building_id: text, name: text, equipment_type: 'ahu' } as const
    const params = [
      {
        name: text,
        default: 1,
        min: 0,
        max: 2,
        unit: text,
        perRole: { [text]: 1 },
        uses: [{ value: 1, source: 'site' as const, equipment_ids: [text] }],
      },
    ]
    return html`${paramsBody({
      ...base,
      query: { q: text, show: 'all' as const },
      part: partOf(
        [{ id: text, title: text, equipment: ['ahu' as const], params: [{ name: text, value: 1, unit: text, isSet: true }] }],
        1,
        20,
      ),
      types: ['ahu' as const],
      equipmentName: () => text,
      ruleOwner: { site_id: text, edge_id: text, name: text },
    })}${paramBody({
      ...base,
      rule: { id: text, title: text, source: text, isOverRoles: true },
      params,
      equipment: [equipment],
      roles: [text],
      ruleOwner: { site_id: text, edge_id: text, name: text },
      at: { equipment_id: text, finding_id: text },
      form: { param: text, value: 1, where: `equipment ${text}`, role: text, note: text, days: 7 },
      outcome: {
        from: NOW,
        to: NOW,
        equipment: [{ ...tried, episodes: [{ change: 'goes', finding: poisoned(text) }] }],
        failed: [{ equipment_id: text, error: text }],
      },
    })}${baselinesBody({
      ...base,
      equipment: [{ equipment_id: text, name: text, baselines: 2, cold: 1, reset: 1 }],
      chosen: text,
      q: '',
      ruleOwner: { site_id: text, edge_id: text, name: text },
      shown: [
        { baseline, title: text, reset: { ...key, ...by, at: NOW } },
        { baseline, title: text, reset: undefined },
      ],
    })}`
  }))

test('a page has no control characters, whatever a name has, but line ends and tabs', t => {
  const name = 'a\u0000b\u001b[31m\u007f\u0085c\td\r\ne'
  t.is(html`<b title="${name}">${name}</b>`.text, '<b title="ab[31mc\td\r\ne">ab[31mc\td\r\ne</b>')
})

test('a name cannot turn the direction of the words after it', t => {
  const name = 'pump\u202etxet \u2067\u2066kcab\u2069 Zähler'
  t.is(html`<b title="${name}">${name}</b>`.text, '<b title="pumptxet kcab Zähler">pumptxet kcab Zähler</b>')
})

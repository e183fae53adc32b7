/** Runs of the rules, and which rules can run at all. */
import { Type } from '@sinclair/typebox'
import type { CoverageGain, CoverageLine } from '#shared/core/rules/report/rule-coverage.ts'
import { countWords } from '#shared/central/ui/words.ts'
import { strict } from '#shared/node/http/route.ts'
import { cell, localInstant, pageText, sliceOf, table } from '../answer-text.ts'
import { BUILDING_INPUT, EQUIPMENT_INPUT, LIST, rowLimit, readBuildings, SLICE_CURSOR, tool } from '../tool.ts'
import type { RunRow } from './replies.ts'

export const listRunsTool = tool({
  name: 'list_runs',
  title: 'Runs of the rules',
  effect: 'reads',
  description: 'Runs of the rules, newest first: when, over which time, what asked for it, how it ended and what it counted.',
  input: strict({ building_id: Type.Optional(BUILDING_INPUT), ...LIST }),
  async answer({ building_id, limit, cursor }, client) {
    const zones = new Map((await readBuildings(client)).map(one => [one.building_id, one.timezone]))
    const fetch = async (count: number) => {
      const query = { building_id, limit: count, cursor }
      const { runs, next_cursor } = await client.get<{ runs: RunRow[]; next_cursor?: string }>('/api/fdd/runs', query)
      return { items: runs, next_cursor }
    }
    return pageText(fetch, items => (items.length === 0 ? 'No run yet.' : runsText(items, zones)), rowLimit({ limit }))
  },
})

const runsText = (runs: RunRow[], zones: ReadonlyMap<string, string>): string =>
  table(
    ['run_id', 'building_id', 'state', 'asked by', 'finished', 'looked from', 'looked to', 'result'],
    runs.map(run => {
      const at = (instant: string | null | undefined) => localInstant(instant, zones.get(run.building_id) ?? 'UTC')
      const { counts, reasons } = run
      const result = counts ? countWords(counts, reasons) : run.reason
      return [
        run.run_id,
        run.building_id,
        run.state,
        run.trigger,
        at(run.finished_at),
        at(run.from),
        at(run.to),
        cell(result, 400),
      ]
    }),
  )

/** Roles that would enable more rules, most rules first, that a summary names. */
const GAINS_MAX = 20

export const getCoverageTool = tool({
  name: 'get_coverage',
  title: 'Which rules can run',
  effect: 'reads',
  description:
    'How many rules can run on a building or an equipment, which missing points would let most more run, and the rules that cannot run with what they lack.',
  input: strict({
    building_id: BUILDING_INPUT,
    equipment_id: Type.Optional(EQUIPMENT_INPUT),
    limit: LIST.limit,
    cursor: SLICE_CURSOR,
  }),
  async answer({ limit, cursor, ...query }, client) {
    const { can_run, cannot_run, rules, gains } = await client.get<{
      can_run: number
      cannot_run: number
      rules: CoverageLine[]
      gains: CoverageGain[]
    }>('/api/fdd/coverage', query)
    const lacking = rules.filter(({ missing }) => missing.length > 0)
    const best = gains.toSorted((a, b) => b.rule_ids.length - a.rule_ids.length).slice(0, GAINS_MAX)
    const head = [
      `${can_run} rules can run, ${cannot_run} cannot.`,
      ...(best.length > 0 ? ['Points that would let more run:'] : []),
      ...best.map(({ equipment_id, role, rule_ids }) => `- ${role} on ${equipment_id}: ${rule_ids.length} more`),
    ].join('\n')
    const render = (items: CoverageLine[]) => {
      const rows = items.map(({ equipment_id, rule_id, title, missing }) => [
        equipment_id,
        rule_id,
        cell(title),
        cell(missing.join(', ')),
      ])
      const list = table(['equipment_id', 'rule_id', 'what it would find', 'what it lacks'], rows)
      return items.length === 0 ? head : `${cursor === undefined ? `${head}\n\n` : ''}${list}`
    }
    return pageText(sliceOf(lacking, cursor), render, rowLimit({ limit }))
  },
})

/** Air handlers on days with published faults. The data sets are beside the project, not in it. */
import test, { type ExecutionContext } from 'ava'
import { createCellAverager } from '#shared/core/analytics/cells.ts'
import { createEconomizerAnalysis } from '#shared/core/analytics/economizer.ts'
import { ECONOMIZER_ROLES } from '#shared/core/analytics/economizer-cells.ts'
import { type VerdictCode, economizerVerdict } from '#shared/core/analytics/economizer-verdict.ts'
import { HIGH_LIMIT } from '#shared/core/analytics/free-cooling.ts'
import { createSignalMerge } from '#shared/core/analytics/signal-merge.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { EMPTY_SERIES, type Series } from '#shared/core/series/series.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { type LabelledSet, readLabelled, readLabels } from '#scripts/lib/labelled.ts'
import { dataPath, testWithData } from '../../../support/optional.ts'

const FOLDER = dataPath('lbnl2020')
const ACCUSES: VerdictCode[] = ['contradicting', 'not_following', 'leaking', 'restricted', 'excess']

/** A single day has little difference between the airs: 3.3 K, as the rule AHU-OAF-SHUT asks for. */
const PARAMS = { dt_min: 3.3, high_limit: HIGH_LIMIT }

function verdictOn({ ts, columns }: LabelledSet, date: string): VerdictCode {
  const from = Date.parse(`${date}T00:00:00Z`)
  const inside = [...ts.keys()].filter(i => ts[i]! >= from && ts[i]! < from + DAY)
  const signals = ECONOMIZER_ROLES.map((role): Series => {
    const column = columns.find(one => one.role === (role === 'fan' ? 'fan_status' : role))
    if (!column) return EMPTY_SERIES
    const { scale, offset } = conversion(column.unit, ROLES[column.role]!.unit)!
    return {
      ts: Float64Array.from(inside, i => ts[i]!),
      values: Float64Array.from(inside, i => column.values[i]! * scale + offset),
    }
  })
  const economizer = createEconomizerAnalysis(PARAMS, 0)
  const cells = createCellAverager(signals.length, economizer.take)
  const holds = signals.map(() => 3 * MINUTE)
  createSignalMerge(from, holds, cells.take).advance(signals, from + DAY)
  cells.end()
  return economizerVerdict(economizer.result(), PARAMS).code
}

test('a day of which nothing was recorded accuses nobody', t => {
  const code = verdictOn({ name: 'none', ts: new Float64Array(0), columns: [] }, '2026-03-01')
  t.false(ACCUSES.includes(code), code)
})

function judgesPublishedDays(t: ExecutionContext): void {
  const labels = readLabels(FOLDER)
  const sets = new Map(['MZVAV-2-2', 'SZCAV'].map(name => [name, readLabelled(FOLDER, name, 'ahu')]))
  const days = labels.map(({ file, date, component }) => ({ file, date, component, code: verdictOn(sets.get(file)!, date) }))
  const accused = days.filter(({ code }) => ACCUSES.includes(code))
  t.deepEqual(
    accused.filter(({ component }) => component !== 'oad'),
    [],
  )
  const faulty = days.filter(({ component }) => component === 'oad')
  t.log(`${accused.length} of ${faulty.length} days with a faulty damper, ${days.length - faulty.length} days without`)
  t.true(accused.length >= 7)
}

testWithData('published days with a faulty damper are told from those without', judgesPublishedDays)

/** The shipped rules on data of others, through the public API. What they must find lies in test/cases/scored. */
import { readFileSync } from 'node:fs'
import { importPoints } from '#scripts/lib/import-points.ts'
import { COMMON_NAMES } from '#scripts/lib/point-names.ts'
import { scoreFolder } from '#scripts/lib/score.ts'
import { scoreAnomalies } from '#scripts/lib/score-anomalies.ts'
import { complaintOf } from '#scripts/lib/verdict.ts'
import { dataPath, testWithData } from '../support/optional.ts'

/** Weeks of minutes are imported and judged: tens of seconds of a core, more beside other work. */
const PATIENCE_MS = 10 * 60_000

type Labelled = { sets: Record<string, string | number>[]; complaints: string[] }
type School = { days: number; mapped: number; points: number; rows: number; findings: Record<string, string[]> }
const expected = <T>(name: string): T => JSON.parse(readFileSync(`test/cases/scored/${name}.json`, 'utf8')) as T

testWithData('labelled air handlers: as many faulty days found, none false and the right components as expected', async t => {
  t.timeout(PATIENCE_MS)
  const { sets, complaints } = expected<Labelled>('lbnl2020')
  const scored = await scoreFolder(dataPath('lbnl2020'), { cold: false, type: 'ahu' })
  const figures = scored.map(({ set, found, faulty, right, false: wrong, normal }) => {
    return { set, found, faulty, right, false: wrong, normal }
  })
  t.deepEqual(figures, sets as typeof figures)
  const said = scored.flatMap(({ verdicts }) => verdicts.flatMap(verdict => complaintOf(verdict) ?? []))
  t.deepEqual(said, complaints)
})

testWithData(
  'a school as its building system exported it: every box has the findings that are expected, and no other',
  async t => {
    t.timeout(PATIENCE_MS)
    const { days, findings, ...counts } = expected<School>('s7')
    const report = await importPoints(dataPath('s7'), { map: COMMON_NAMES, timezone: undefined, days })
    t.deepEqual(report.failed, [])
    const { mapped, points, rows } = report
    t.deepEqual({ mapped, points, rows }, counts)
    const found = report.equipment.map(({ equipment_id, findings: own }) => [
      equipment_id,
      [...new Set(own.map(({ rule_id }) => rule_id))].toSorted(),
    ])
    t.deepEqual(Object.fromEntries(found), findings)
  },
)

testWithData('anomaly screening of a healthy air handler flags the day that its page and README name, and no other', async t => {
  t.timeout(PATIENCE_MS)
  const scores = await scoreAnomalies(dataPath('sas_ahu'), 'ahu')
  t.deepEqual(scores, [{ set: 'AHU_5_2', found: 0, faulty: 0, false: 1, normal: 42, not_scored: 31 }])
})

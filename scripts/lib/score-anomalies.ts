/** Counts the labelled days that anomaly screening flags: faulty days, normal days, and days that it could not score. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import { DAY } from '#shared/core/time.ts'
import { readLabelled, readLabels } from './labelled.ts'
import { buildingIdOf, packageOf } from './score.ts'
import { openSession, type Session } from './session.ts'

/** Days of one set. A day is flagged when at least one point has an anomaly in it. */
export type AnomalyScore = { set: string; found: number; faulty: number; false: number; normal: number; not_scored: number }

type Scores = { points_scored: number; anomalies_total: number }

/** Screens every labelled day of a folder against the days before it, through the API. Labelled days only, in their order. */
export async function scoreAnomalies(dir: string, type: EquipmentType): Promise<AnomalyScore[]> {
  const labels = readLabels(dir)
  const session = await openSession()
  try {
    const scores: AnomalyScore[] = []
    for (const set of new Set(labels.map(({ file }) => file))) {
      await session.importPackage(packageOf(readLabelled(dir, set, type), buildingIdOf(set), type))
      const score: AnomalyScore = { set, found: 0, faulty: 0, false: 0, normal: 0, not_scored: 0 }
      for (const { date, component } of labels.filter(({ file }) => file === set)) {
        const isNormal = component === 'normal'
        score[isNormal ? 'normal' : 'faulty']++
        const { points_scored, anomalies_total } = await screenDay(session, buildingIdOf(set), date)
        if (points_scored === 0) score.not_scored++
        else if (anomalies_total > 0) score[isNormal ? 'false' : 'found']++
      }
      scores.push(score)
    }
    return scores
  } finally {
    await session.close()
  }
}

const screenDay = (session: Session, building_id: string, date: string): Promise<Scores> =>
  session.get(`/api/analytics/sql-anomaly/scores?${new URLSearchParams({ building_id, from: date, to: dayAfter(date) })}`)

const dayAfter = (date: string): string => new Date(Date.parse(date) + DAY).toISOString().slice(0, 10)

/** Imports packages through the API, as a script would. */
import type { Series } from '#shared/core/series/series.ts'
import { type Files, zipForm, zipOf } from './packages.ts'
import type { Answer, TestCentral } from '../sites/central-site.ts'

/** A check of a preflight, as the API shows it. */
export type Seen = { code: string; severity: string; count: number; message: string; examples: string[] }
export const checkOf = (checks: Seen[], code: string) => checks.find(check => check.code === code)

type Importer = {
  /** A building of its own for each test, as they share one process. */
  ownBuilding(): { building_id: string }
  preflight(files: Files): Promise<Answer>
  execute(session_id: string, more?: object): Promise<Answer>
  /** @returns the answer of execute. @throws Error when it is not 200 */
  imported(files: Files): Promise<any>
  history(building_id: string, point_id: string): Promise<Series>
}

/** @param site called when it is needed, for it is started by a hook */
export function importer(site: () => TestCentral): Importer {
  let lastBuilding = 0
  const preflight: Importer['preflight'] = async files =>
    site().call('operator', 'POST', '/api/csv/import/preflight', zipForm(await zipOf(files)))
  const execute: Importer['execute'] = (session_id, more = {}) =>
    site().call('operator', 'POST', '/api/csv/import/execute', { session_id, confirm: true, ...more })
  return {
    ownBuilding: () => ({ building_id: `own-${++lastBuilding}` }),
    preflight,
    execute,
    async imported(files) {
      const { body } = await preflight(files)
      const answer = await execute(body.session_id)
      if (answer.status !== 200) throw new Error(answer.text)
      return answer.body
    },
    async history(building_id, point_id) {
      const [series] = await site().central.historian.read({ building_id, point_ids: [point_id], from: 0, to: 4e12 })
      return series!
    },
  }
}

/** What is asked of something that is not there is a 404 which the route states, and no empty list of it. */
import test from 'ava'
import type { Route } from '#shared/node/http/route.ts'
import { openSpecHub, pathOf, sharedEnds, tokenOf } from './spec-site.ts'

const ends = sharedEnds()
test.after.always(ends.end)

/** Rows of the audit outlive their building, and a search or a list of buildings says by itself that there is none. */
const MAY_BE_EMPTY = ['/api/audit', '/api/search', '/api/model/buildings']
/** A request for one thing of a building, where the building alone is not enough. */
const MORE: Record<string, string> = {
  '/api/fdd/series': '&point_ids=nothing',
  '/api/model/export': '&format=csv',
}
const NOBODY = '0'.repeat(32)

const namesBuilding = ({ query }: Route): boolean => query?.['properties']?.building_id !== undefined

test('a route that reads answers 404 with a code that it states', async t => {
  const { send, routes } = await openSpecHub(ends, { SERVICE_SQL_ANOMALY_SCREENING: '1' })
  const token = await tokenOf(send, 'admin')
  const wrong: string[] = []
  let asked = 0
  for (const route of routes) {
    const { method, path, problems = [] } = route
    const isOf = path.includes(':') || namesBuilding(route)
    if (method !== 'GET' || !path.startsWith('/api/') || !isOf || MAY_BE_EMPTY.includes(path)) continue
    // A hub without tenants has no members.
    if (problems.includes('tenants_disabled')) continue
    const query = namesBuilding(route) ? `?building_id=nothing${MORE[path] ?? ''}` : ''
    const { status, body, text } = await send(
      'GET',
      pathOf({ path }, path.includes('fingerprint') ? NOBODY : 'nothing') + query,
      { token },
    )
    asked++
    if (status !== 404 || !['not_found', ...problems].includes(body.code)) wrong.push(`${path}: ${status} ${text.slice(0, 150)}`)
  }
  t.deepEqual(wrong, [])
  t.true(asked > 30, String(asked))
})

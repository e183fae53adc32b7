/** A hub with buildings, edges, findings and an authority, without a broker. */
import type { ExecutionContext } from 'ava'
import { folder } from '../../support/folders.ts'
import { makeHubAuthority, openEnrolSite } from '../../support/sites/enrol-site.ts'
import { type Asked, openAsking } from './asking.ts'

export async function openEdgeHub(t: ExecutionContext, asked: Asked) {
  const { hub: dir } = await makeHubAuthority(folder(t))
  const site = await openEnrolSite(dir, 8883, { api: true })
  t.teardown(site.close)
  return { site, ...(await openAsking(t, site.url, asked)) }
}

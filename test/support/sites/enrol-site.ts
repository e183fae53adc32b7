/** A hub with an intermediate authority below one that is kept elsewhere, and its page Enrol. */
import { join } from 'node:path'
import { createAuthority } from '#hub/enrol/authority.ts'
import { enrolRoutes } from '#hub/enrol/enrol.route.ts'
import { makePki, openPki } from '#shared/node/pki/pki-files.ts'
import { openSite } from './page-site.ts'

/** @returns the folders of both authorities; that of the hub has the certificates of broker and central */
export async function makeHubAuthority(dir: string): Promise<{ root: string; hub: string }> {
  const [root, hub] = [join(dir, 'root'), join(dir, 'hub')]
  await makePki(root, { name: 'Root', now: Date.now() })
  await makePki(hub, { name: 'Hub', now: Date.now(), above: root })
  const pki = await openPki(hub, Date.now)
  await pki.broker({ hosts: ['127.0.0.1', 'localhost', 'hub.example'] })
  await pki.central({ site_id: '*' })
  return { root, hub }
}

/** @param dir folder of the authority, if there is one */
export function openEnrolSite(dir: string | undefined, brokerPort: number) {
  const enrolment = { authority: createAuthority(dir, Date.now), tenant_id: undefined, brokerPort }
  return openSite({ product: 'hub', more: (layout, context) => enrolRoutes(enrolment, context, layout) })
}

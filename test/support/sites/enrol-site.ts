/** A hub with an intermediate authority below one that is kept elsewhere, and its page Enrol. */
import { join } from 'node:path'
import { createAuthority } from '#hub/enrol/authority.ts'
import { enrolRoutes } from '#hub/enrol/enrol.route.ts'
import { createEstSecrets } from '#hub/enrol/est-secrets.ts'
import { createPendingBoxes } from '#hub/enrol/pending-boxes.ts'
import { createRenewals } from '#hub/enrol/renewals.ts'
import { createServiceCertificates } from '#hub/enrol/service-certificates.ts'
import { Problem } from '#shared/core/problem.ts'
import { makePki, openPki } from '#shared/node/pki/pki-files.ts'
import { silent } from './transport-site.ts'
import { openSite, type SiteOptions } from './page-site.ts'

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
export async function openEnrolSite(
  dir: string | undefined,
  brokerPort: number,
  more: Pick<SiteOptions, 'api' | 'pageLanguageOf'> = {},
) {
  const authority = createAuthority(dir, Date.now)
  const { renewFile: renew } = authority
  const audit = () => undefined
  const certificates = createServiceCertificates({ dir, tlsDir: undefined, renew, audit, log: silent, now: Date.now })
  await certificates.look()
  return openSite({
    ...more,
    product: 'hub',
    more: (layout, context) => {
      const { edges } = context
      const ask = () => Promise.reject(new Problem('edge_unreachable', 'no broker in this test'))
      const parts = { authority, tenant_id: undefined, edges, ask, audit: () => undefined, log: silent, now: Date.now }
      const pending = createPendingBoxes(dir, Date.now)
      const enrolment = {
        authority,
        tenant_id: undefined,
        brokerPort,
        renewals: createRenewals(parts),
        pending,
        secrets: createEstSecrets(dir, Date.now),
        own: certificates.states,
        isOurs: (tenant_id: string | undefined) => tenant_id === undefined,
        estPort: 8085,
      }
      return enrolRoutes(enrolment, context, layout)
    },
  })
}

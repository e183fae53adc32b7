/**
 * A hub's ingest that runs until it is killed. For each line of its input, the id of a site, it renews the certificate of edge e1 there,
 * and prints the site and the serial once the edge has stored it.
 */
import { createInterface } from 'node:readline'
import { openConnectors } from '#hub/connectors/open.ts'
import { createAuthority } from '#hub/enrol/authority.ts'
import { createRenewals } from '#hub/enrol/renewals.ts'
import { silent, startHub } from '../../support/sites/transport-site.ts'

const RENEWAL_TIMEOUT_MS = 5000

const [certs, workspace, port] = process.argv.slice(2)
const { edges, publish, onEdge } = await startHub(certs!, workspace!, Number(port))
const connectors = openConnectors({ edges, files: undefined, publish, timeoutMs: RENEWAL_TIMEOUT_MS })
onEdge(connectors)
const renewals = createRenewals({
  ...{ authority: createAuthority(certs, Date.now), tenant_id: undefined, edges, ask: connectors.askBroker },
  ...{ audit: () => undefined, log: silent, now: Date.now },
})
createInterface({ input: process.stdin }).on('line', site_id => {
  const edge = edges.get(site_id, 'e1')
  const renewed = edge ? renewals.renew(edge) : Promise.reject(new Error(`${site_id} is not known yet`))
  renewed.then(
    ({ serial }) => process.stdout.write(`${site_id} ${serial}\n`),
    // The edge, the broker or the clock is away; whoever asks sees that no serial comes.
    () => undefined,
  )
})

/** Certificates of a benchmark's broker, hub and edges. */
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { makePki, openPki } from '#shared/node/pki/pki-files.ts'
import { edgeId, SITE_ID } from './load.ts'

/** Makes an authority in the folder `certs`. @returns the kits of so many edges; their port is not known yet */
export async function makeCertificates(certs: string, edges: number): Promise<Kit[]> {
  await makePki(certs, { name: 'Bench', now: Date.now() })
  const pki = await openPki(certs, Date.now)
  await pki.broker({ hosts: ['127.0.0.1'] })
  await pki.central({ site_id: '*' })
  const kits: Kit[] = []
  for (let i = 0; i < edges; i++) {
    kits.push(await pki.kit({ site_id: SITE_ID, edge_id: edgeId(i), broker_host: '127.0.0.1', broker_port: 1 }))
  }
  return kits
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PKI_FILES } from '#shared/node/pki/pki-files.ts'
import type { BrokerBench } from '../../conformance/broker.ts'
import { CLIENTS } from '../../conformance/topic-permissions.ts'
import { makeAuthority } from '../sites/transport-site.ts'

/** An authority that has issued a certificate to each of the clients. */
export async function brokerAuthority(dir: string) {
  const pki = await makeAuthority(dir)
  const pairs: BrokerBench['pairs'] = new Map()
  for (const { cn, identity } of CLIENTS) {
    const kit = { ...identity, broker_host: '127.0.0.1', broker_port: 8883 }
    pairs.set(cn, identity.kind === 'edge' ? await pki.kit(kit as typeof kit & typeof identity) : await pki.central(identity))
  }
  return { pki, pairs, ca_pem: readFileSync(join(dir, PKI_FILES.ca.cert), 'utf8') }
}

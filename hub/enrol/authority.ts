/** The authority of a hub: issues, lists and revokes the certificates of edges, by the functions of provisioning. */
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseIdentity } from '#shared/core/auth/identity.ts'
import type { EdgeAddress } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import type { NewCertificate } from '#shared/core/telemetry/renewal-wire.ts'
import { DAY } from '#shared/core/time.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { authorityFingerprint } from '#shared/node/pki/fingerprint.ts'
import { zipKit } from '#shared/node/pki/kit-write.ts'
import { serialOf } from '#shared/node/pki/certificate.ts'
import { type Issued, readCrl } from '#shared/node/pki/pki.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import type { MosquittoList } from '#shared/node/pki/mosquitto-list.ts'
import { PkiBusy, withPkiLock } from '#shared/node/pki/pki-lock.ts'
import { type IssuedRecord, openPki, type Pki, PKI_FILES, PkiRefusal } from '#shared/node/pki/pki-files.ts'

/** A certificate of an edge. `serial` as `serialOf` writes it; times are ms since 1970 UTC. */
export type EdgeCertificate = EdgeAddress & Pick<IssuedRecord, 'serial' | 'issued_at' | 'not_after' | 'revoked_at'>
type KitOrder = EdgeAddress & {
  broker_host: string
  broker_port: number
  /** A certificate request of the edge, so that its key need not leave it: the kit has no key then. */
  csr_pem?: string | undefined
  /** Whether certificates of this edge that are still valid are revoked. */
  replace: boolean
}
/** `kit` has a key when it was made here. */
export type IssuedKit = { zip: Buffer; kit: Omit<Kit, 'key_pem'>; serial: string; not_after: string; revoked: EdgeCertificate[] }

export type Authority = {
  /** Fingerprint of what edges will trust. @throws Problem no_authority */
  fingerprint(): Promise<string>
  /** Names and addresses in the certificate of the broker; undefined where it is in another folder. */
  brokerHosts(): Promise<string[] | undefined>
  /**
   * Issues a certificate and packs everything that an edge needs to connect. The kit is stored nowhere.
   *
   * @throws Problem conflict when the edge has a valid certificate and `replace` is false; invalid for ids or a request
   *   that cannot be used; no_authority
   */
  issue(order: KitOrder): Promise<IssuedKit>
  /** Certificates of edges, the newest first. @throws Problem no_authority */
  list(): Promise<EdgeCertificate[]>
  /**
   * Issues a new certificate for a request of the edge, for as long as the one before. That one stays valid.
   *
   * @param proof isProven: a session has shown that the edge holds a valid certificate, of this authority or of another one
   *   that the broker trusts
   * @throws Problem unknown_edge for one without a certificate of this authority, conflict when its newest one is revoked,
   *   invalid for a request that cannot be used, no_authority
   */
  renew(
    edge: EdgeAddress,
    csr_pem: string,
    proof: { isProven: boolean },
  ): Promise<NewCertificate & { serial: string; not_after: number }>
  /**
   * Renews the certificate of an edge's HTTPS port, for the same key and names and for as long as the one before.
   *
   * @throws Problem conflict when it was not issued here for this edge, or is revoked; no_authority
   */
  renewPort(edge: EdgeAddress, cert_pem: string): Promise<Pick<Issued, 'cert_pem' | 'serial' | 'not_after'>>
  /**
   * Renews the certificate in a file, of this hub itself, for as long as the one before.
   *
   * @throws PkiRefusal when it was not issued here or is revoked; Problem no_authority
   */
  renewFile(file: string): Promise<Pick<Issued, 'serial' | 'not_after'>>
  /** Every authority that edges trust, PEM. @throws Problem no_authority */
  trusted(): Promise<string>
  /** Whether the certificate is on a list of this folder, of this authority or of another one. @throws Problem no_authority */
  isRevoked(serial: string): Promise<boolean>
  /** Undefined where mosquitto has no list in the folder. @throws Problem no_authority */
  mosquittoList(): Promise<MosquittoList | undefined>
  /** Revokes every certificate of an edge that is still valid. @throws Problem no_authority */
  revoke(edge: EdgeAddress): Promise<EdgeCertificate[]>
}

/**
 * @param dir folder of the broker's and central's certificates; undefined on a hub without a broker. It is an authority when
 *   it holds the authority's key.
 * @param now ms since 1970 UTC
 */
export function createAuthority(dir: string | undefined, now: () => number): Authority {
  const inTurn = createSerialQueue()
  const change = <T>(work: (pki: Pki) => Promise<T>): Promise<T> =>
    inTurn(async () => {
      const pki = await open(dir, now)
      return withPkiLock(dir!, () => work(pki)).catch(explainBusy)
    })
  const revokeOf = async (pki: Pki, edge: EdgeAddress) => {
    const valid = (await edgesOf(pki)).filter(one => isSame(one, edge) && isValid(one, now()))
    for (const { serial } of valid) await pki.revoke(serial)
    return valid
  }
  return {
    fingerprint: async () => authorityFingerprint((await open(dir, now)).ca_pem),
    brokerHosts: () => brokerHosts(dir),
    issue: order =>
      change(async pki => {
        const { csr_pem, replace, ...place } = order
        const held = (await edgesOf(pki)).filter(one => isSame(one, place) && isValid(one, now()))
        if (held.length > 0 && !replace) {
          const message = `edge ${place.edge_id} of site ${place.site_id} has a valid certificate; replace: true revokes it`
          throw new Problem('conflict', message)
        }
        const kit = await issue(pki, place, csr_pem)
        const zip = await zipKit(kit)
        const serial = serialOf(new X509Certificate(kit.cert_pem).serialNumber)
        // Last, so that an error before leaves the edge with the certificate that it has.
        for (const one of held) await pki.revoke(one.serial)
        return { zip, kit, serial, not_after: kit.edge.not_after, revoked: held }
      }),
    list: async () => edgesOf(await open(dir, now)),
    renew: (edge, csr_pem, { isProven }) =>
      change(async pki => {
        const [newest] = (await edgesOf(pki)).filter(one => isSame(one, edge))
        const name = `edge ${edge.edge_id} of site ${edge.site_id}`
        if (!newest && !isProven) throw new Problem('unknown_edge', `${name} has no certificate of this authority`)
        if (newest && newest.revoked_at !== null)
          throw new Problem('conflict', `the certificate of ${name} is revoked: make a kit`)
        const days = newest && Math.max(1, Math.round((newest.not_after - newest.issued_at) / DAY))
        const issue = pki.reissue({ ...edge, csr_pem, ...(days !== undefined && { days }) })
        const { cert_pem, ca_pem, token, serial, not_after } = await issue.catch(refuseRequest)
        return { cert_pem, ca_pem, ...(token !== undefined && { token }), serial, not_after }
      }),
    renewPort: (edge, cert_pem) =>
      change(pki => pki.renewConnector(edge, cert_pem)).catch((error: unknown) => {
        throw error instanceof PkiRefusal ? new Problem('conflict', error.message) : error
      }),
    renewFile: file => change(pki => pki.renewFile(file)),
    trusted: async () => (await open(dir, now)).ca_pem,
    isRevoked: async serial => {
      const { ca_pem } = await open(dir, now)
      return (await readCrl(await readFile(join(dir!, PKI_FILES.crl), 'utf8'), ca_pem)).has(serial)
    },
    mosquittoList: async () => (await open(dir, now)).mosquittoList(),
    revoke: edge => change(pki => revokeOf(pki, edge)),
  }
}

async function open(dir: string | undefined, now: () => number): Promise<Pki> {
  if (dir === undefined) throw new Problem('no_authority', 'This hub runs without a broker, so it issues no certificates')
  try {
    return await openPki(dir, now)
  } catch (error) {
    if (!(error instanceof PkiRefusal)) throw error
    const message = `${error.message}: kits are made on the machine of the authority, with provisioning/main.ts kit`
    throw new Problem('no_authority', message)
  }
}

function explainBusy(error: unknown): never {
  throw error instanceof PkiBusy ? new Problem('not_ready', error.message) : error
}

async function issue(pki: Pki, place: Omit<KitOrder, 'csr_pem' | 'replace'>, csr_pem: string | undefined) {
  try {
    return await (csr_pem === undefined ? pki.kit(place) : pki.sign({ ...place, csr_pem }))
  } catch (error) {
    return refuseRequest(error)
  }
}

/** Ids are checked before they become a name; what is left is a request of the edge that cannot be read or verified. */
function refuseRequest(error: unknown): never {
  if (error instanceof PkiRefusal) throw new Problem('no_authority', error.message)
  const field = error instanceof RangeError ? 'edge_id' : 'csr_pem'
  const { message } = error as Error
  throw new Problem('invalid', message, [{ pointer: `/${field}`, message }])
}

async function edgesOf(pki: Pki): Promise<EdgeCertificate[]> {
  const issued = await pki.list()
  return issued
    .flatMap(({ cn, kind, serial, issued_at, not_after, revoked_at }) => {
      const identity = kind === 'edge' ? parseIdentity(cn) : undefined
      if (identity?.kind !== 'edge') return []
      const { kind: _edge, ...address } = identity
      return [{ ...address, serial, issued_at, not_after, revoked_at }]
    })
    .toReversed()
}

const isSame = (a: EdgeAddress, b: EdgeAddress): boolean =>
  a.tenant_id === b.tenant_id && a.site_id === b.site_id && a.edge_id === b.edge_id
export const isValid = ({ revoked_at, not_after }: EdgeCertificate, now: number): boolean =>
  revoked_at === null && not_after > now

async function brokerHosts(dir: string | undefined): Promise<string[] | undefined> {
  if (dir === undefined) return undefined
  const pem = await readFile(join(dir, PKI_FILES.broker.cert), 'utf8').catch(() => undefined)
  const names = pem === undefined ? undefined : new X509Certificate(pem).subjectAltName
  return names?.split(', ').map(name => name.replace(/^(DNS|IP Address):/, ''))
}

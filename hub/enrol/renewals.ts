/** Renews the certificates of edges over their sessions, when they ask for it and when an operator does. */
import type { Logger } from 'pino'
import type { AuditNote } from '#shared/node/http/route.ts'
import { edgeName } from '#shared/core/model/model.ts'
import { errorText } from '#shared/core/error-text.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { RENEWAL, type RenewalOperation } from '#shared/core/telemetry/renewal-wire.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { repeated } from '#shared/node/repeated.ts'
import type { Service } from '#shared/node/service.ts'
import { type EdgeReply, checkReply } from '../connectors/edge-client.ts'
import type { Authority } from './authority.ts'

/** How often edges are looked at; a third of a certificate's life is left when the first tries. */
const LOOK_MS = 5 * MINUTE
/** An edge is tried again after this time, so that one whose new certificate does not work does not get another one at each look. */
const AGAIN_MS = 12 * HOUR
/** Most renewals of one look: the others follow with the next. */
const PER_LOOK_MAX = 50

type Parts = {
  authority: Pick<Authority, 'renew' | 'renewPort'>
  tenant_id: string | undefined
  edges: { list(): EdgeRecord[] }
  /** Over the broker alone. @throws Problem edge_unreachable, edge_timeout or not_ready */
  ask: (edge: EdgeRecord, operation: RenewalOperation, request: object) => Promise<EdgeReply>
  audit: (note: AuditNote) => void
  log: Logger
  /** ms since 1970 UTC */
  now: () => number
}
export type Renewed = { serial: string; not_after: number }

export type Renewals = {
  service: Service
  /** Renews what edges ask for, one after the other. */
  look(): Promise<void>
  /**
   * Has the edge make a key and a request, signs it and has the edge store the certificate. The edge uses it at once and keeps the
   * one before until a session with the new one was open.
   *
   * @throws Problem no_authority, conflict for an edge whose newest certificate is revoked, or what the edge refuses
   */
  renew(edge: EdgeRecord): Promise<Renewed>
}

export function createRenewals({ authority, tenant_id, edges, ask, audit, log, now }: Parts): Renewals {
  const triedAt = new Map<string, number>()

  const addressOf = ({ site_id, edge_id }: EdgeRecord) => ({ ...(tenant_id !== undefined && { tenant_id }), site_id, edge_id })
  const renew = async (edge: EdgeRecord): Promise<Renewed> => {
    const { edge_id } = edge
    const asked = await ask(edge, 'certificate_request', {})
    const { csr_pem } = checkReply(edge_id, RENEWAL.certificate_request, asked)
    // The broker lets nobody but the holder of a valid certificate of this edge answer.
    const { serial, not_after, ...certificate } = await authority.renew(addressOf(edge), csr_pem, { isProven: true })
    checkReply(edge_id, RENEWAL.certificate_install, await ask(edge, 'certificate_install', certificate))
    return { serial, not_after }
  }

  /** Of the HTTPS port, for the same key and names. */
  const renewPort = async (edge: EdgeRecord): Promise<Renewed> => {
    const { edge_id } = edge
    const asked = await ask(edge, 'port_certificate', {})
    const before = checkReply(edge_id, RENEWAL.port_certificate, asked)
    const { cert_pem, serial, not_after } = await authority.renewPort(addressOf(edge), before.cert_pem)
    const answer = await ask(edge, 'port_certificate_install', { cert_pem })
    checkReply(edge_id, RENEWAL.port_certificate_install, answer)
    return { serial, not_after }
  }

  const tasks = [
    { flag: 'cert_renewal_due', what: 'certificate', renew },
    { flag: 'port_cert_renewal_due', what: 'certificate of the HTTPS port', renew: renewPort },
  ]
  const look = async () => {
    const due = edges.list().flatMap(edge =>
      tasks.flatMap(task => {
        const key = `${task.flag} ${edgeName(edge)}`
        const isDue = edge.online && edge.status_body[task.flag] === true
        return isDue && now() - (triedAt.get(key) ?? -Infinity) >= AGAIN_MS ? [{ task, edge, key }] : []
      }),
    )
    for (const { task, edge, key } of due.slice(0, PER_LOOK_MAX)) {
      const subject = edgeName(edge)
      triedAt.set(key, now())
      try {
        audit({ subject, after: { ...(await task.renew(edge)), what: task.what } })
        log.info({ edge: subject }, `${task.what} renewed`)
      } catch (error) {
        log.warn({ edge: subject }, `${task.what} not renewed: ${errorText(error)}`)
      }
    }
  }
  const { run, start, stop } = repeated(look, LOOK_MS)

  return {
    service: {
      name: 'renewals',
      start: async () => start(),
      stop,
    },
    look: run,
    renew,
  }
}

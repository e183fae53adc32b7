import { type NewCertificate, RENEWAL } from '#shared/core/telemetry/renewal-wire.ts'
import type { EdgeOperations } from '../services/responder.ts'
import type { EdgeKits } from './edge-kits.ts'

/** What a hub asks to renew the certificate of this edge. */
export const certificateOperations = (kits: EdgeKits): EdgeOperations => ({
  certificate_request: { ...RENEWAL.certificate_request, answer: () => kits.request() },
  certificate_install: {
    ...RENEWAL.certificate_install,
    answer: async (request: NewCertificate) => ({ ok: true, serial: await kits.install(request) }),
  },
})

import { type NewCertificate, RENEWAL } from '#shared/core/telemetry/renewal-wire.ts'
import type { EdgeOperations } from '../services/responder.ts'
import type { EdgeKits } from './edge-kits.ts'
import type { PortCertificate } from './port-certificate.ts'

/** What a hub asks to renew the certificates of this edge. */
export const certificateOperations = (kits: EdgeKits): EdgeOperations => ({
  certificate_request: { ...RENEWAL.certificate_request, answer: () => kits.request() },
  certificate_install: {
    ...RENEWAL.certificate_install,
    answer: async (request: NewCertificate) => ({ ok: true, serial: await kits.install(request) }),
  },
  ...(kits.port && portOperations(kits.port)),
})

const portOperations = (port: PortCertificate): EdgeOperations => ({
  port_certificate: { ...RENEWAL.port_certificate, answer: () => port.request() },
  port_certificate_install: {
    ...RENEWAL.port_certificate_install,
    answer: async ({ cert_pem }: { cert_pem: string }) => ({ ok: true, serial: await port.install(cert_pem) }),
  },
})

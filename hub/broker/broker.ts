import type { Logger } from 'pino'
import type { Service } from '#shared/node/service.ts'

/** The embedded broker: mutual TLS, identity and topics from the certificate. */
export declare function brokerService(options: {
  host: string
  /** 0 takes a free one. */
  port: number
  ca_pem: string
  cert_pem: string
  key_pem: string
  /** Path of the list of revoked certificates; looked at again every few seconds. */
  crlPath: string | undefined
  log: Logger
}): Service & { port(): number; sessions(): string[] }

import { nameTable } from '#shared/core/name-table.ts'

/** The steps at which a request can fail, in their order. */
export const STEPS = ['dns', 'tcp', 'tls', 'hello', 'auth', 'op', 'parse'] as const
export type Step = (typeof STEPS)[number]

type FailureParts = {
  step: Step
  /** The remedy; undefined when the message is enough. */
  advice?: string | undefined
  /** `silent`: there was no answer. `fault`: the answer cannot be used. */
  kind?: 'silent' | 'fault'
  /** The HTTP status of an answer that failed. */
  status?: number
  cause?: unknown
}

/** A request to a Haystack server failed: the message states the error, `step` the step that failed. */
export class HaystackFailure extends Error {
  override name = 'HaystackFailure'
  readonly step: Step
  readonly advice: string | undefined
  readonly kind: 'silent' | 'fault'
  readonly status: number | undefined
  constructor(message: string, { step, advice, kind = 'fault', status, cause }: FailureParts) {
    super(message, { cause })
    this.step = step
    this.advice = advice
    this.kind = kind
    this.status = status
  }
}

const TRUST = 'set SERVICE_HAYSTACK_CA_FILE to the certificate of the authority that signed it'

/** Error codes of the operating system in plain words. @source errno(3); OpenSSL's verification results as Node names them */
const CODES = nameTable<{ says: string; advice?: string }>({
  ENOTFOUND: {
    says: 'unknown host name',
    advice: 'check the name in the endpoint, and the name server (DNS) of this machine',
  },
  EAI_AGAIN: {
    says: 'no name server answers',
    advice: 'check the name server (DNS) of this machine, or use the IP address instead of the name',
  },
  ECONNREFUSED: { says: 'connection refused', advice: 'check host and port of the endpoint, and that the server is running' },
  EHOSTUNREACH: { says: 'no route to the host', advice: 'check address, cable, VLAN and firewall' },
  ENETUNREACH: { says: 'no route to the network', advice: 'check the gateway of this machine' },
  ETIMEDOUT: { says: 'the connection was not answered', advice: 'check host and port; a firewall may block them' },
  ECONNRESET: { says: 'the server closed the connection' },
  EPIPE: { says: 'the server closed the connection' },
  EPROTO: { says: 'the server does not speak TLS', advice: 'if the server has no TLS, use http:// in the endpoint' },
  ERR_SSL_WRONG_VERSION_NUMBER: {
    says: 'the server does not speak TLS',
    advice: 'if the server has no TLS, use http:// in the endpoint',
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: { says: 'the certificate is self-signed', advice: TRUST },
  SELF_SIGNED_CERT_IN_CHAIN: { says: 'the certificate was signed by an authority that is not trusted', advice: TRUST },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { says: 'the certificate was signed by an authority that is not trusted', advice: TRUST },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: { says: 'the certificate was signed by an authority that is not trusted', advice: TRUST },
  CERT_HAS_EXPIRED: { says: 'the certificate has expired', advice: "renew it on the server; check this machine's clock" },
  CERT_NOT_YET_VALID: { says: 'the certificate is not valid yet', advice: "check this machine's clock" },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    says: 'the certificate was issued for another host name',
    advice: 'use the name in the certificate as the host of the endpoint',
  },
})

const NO_HTTP = {
  says: 'the server does not speak HTTP correctly',
  advice: 'check the port of the endpoint; if the server has TLS, use https://',
}

/** @param error of a socket of Node: a `code`, and a message that may be empty */
export function explainCode(error: { code?: string | undefined; message: string }): { says: string; advice?: string } {
  if (error.code?.startsWith('HPE_')) return NO_HTTP
  return CODES[error.code ?? ''] ?? { says: error.message || error.code || 'unknown error' }
}

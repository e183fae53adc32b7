/** The steps of a request at which it can fail, in their order. */
export const STEPS = ['dns', 'tcp', 'tls', 'hello', 'auth', 'op', 'parse'] as const
export type Step = (typeof STEPS)[number]

type FailureParts = {
  step: Step
  /** What to do about it; undefined when the message says all. */
  advice?: string | undefined
  /** `silent`: there was no answer. `fault`: there was one, but nothing that can be used. */
  kind?: 'silent' | 'fault'
  /** The HTTP status of an answer that failed. */
  status?: number
  cause?: unknown
}

/** A request to a Haystack server that failed. The message says what happened, `step` where. */
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

const TRUST = 'give the certificate of the authority that signed it with SERVICE_HAYSTACK_CA_FILE'

/** What the machine's own error codes mean to a person. @source errno(3); OpenSSL's verification results as Node names them */
const CODES: Record<string, { says: string; advice?: string }> = {
  ENOTFOUND: {
    says: 'the host name is not known',
    advice: 'check the name in the endpoint, and the name server of this machine',
  },
  EAI_AGAIN: {
    says: 'no name server answers',
    advice: 'check the name server of this machine, or write the address instead of the name',
  },
  ECONNREFUSED: { says: 'nothing listens there', advice: 'check host and port of the endpoint, and that the server runs' },
  EHOSTUNREACH: { says: 'there is no way to the host', advice: 'check address, cable, VLAN and firewall' },
  ENETUNREACH: { says: 'there is no way to the network', advice: 'check the gateway of this machine' },
  ETIMEDOUT: { says: 'no answer to the connection', advice: 'a firewall may drop it; check host and port' },
  ECONNRESET: { says: 'the server broke the connection off' },
  EPIPE: { says: 'the server broke the connection off' },
  EPROTO: { says: 'what answers does not speak TLS', advice: 'if the server has no TLS, the endpoint begins with http://' },
  ERR_SSL_WRONG_VERSION_NUMBER: {
    says: 'what answers does not speak TLS',
    advice: 'if the server has no TLS, the endpoint begins with http://',
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: { says: 'the certificate is signed by itself', advice: TRUST },
  SELF_SIGNED_CERT_IN_CHAIN: { says: 'the certificate comes from an authority that is not trusted', advice: TRUST },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { says: 'the certificate comes from an authority that is not trusted', advice: TRUST },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: { says: 'the certificate comes from an authority that is not trusted', advice: TRUST },
  CERT_HAS_EXPIRED: { says: 'the certificate has expired', advice: "renew it on the server; check this machine's clock" },
  CERT_NOT_YET_VALID: { says: 'the certificate is not valid yet', advice: "check this machine's clock" },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    says: 'the certificate is for another name',
    advice: 'write the name that stands in the certificate into the endpoint',
  },
}

const NO_HTTP = {
  says: 'what answers does not speak HTTP as it should',
  advice: 'check the port of the endpoint; if the server has TLS, the endpoint begins with https://',
}

/** @param error as Node's sockets report it: a `code`, and a message that may be empty */
export function explainCode(error: { code?: string | undefined; message: string }): { says: string; advice?: string } {
  if (error.code?.startsWith('HPE_')) return NO_HTTP
  return CODES[error.code ?? ''] ?? { says: error.message || error.code || 'it failed' }
}

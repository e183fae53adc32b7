/** A certificate and its private key, PEM. */
export type Pair = { cert_pem: string; key_pem: string }
export type Issued = Pair & { serial: string; cn: string; not_after: number }

/** Makes a certificate authority, ECDSA P-256, good for `days` (default 10 years). */
export declare function makeCa(options: { name: string; now: number; days?: number }): Promise<Pair>
/** Issues a client certificate for `edge:…` or `central:…`. */
export declare function issueClient(ca: Pair, options: { cn: string; now: number; days?: number }): Promise<Issued>
/** Issues the broker's certificate for these host names and addresses. */
export declare function issueServer(ca: Pair, options: { hosts: string[]; now: number; days?: number }): Promise<Issued>

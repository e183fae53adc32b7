/** The oldest version and the cipher suites of TLS that servers and clients here take. */

const SUITES_1_3 = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256']

/**
 * Those of TLS 1.2 with authenticated encryption and an ephemeral key; OpenSSL also offers CBC with SHA-1.
 *
 * @source RFC 9325, 4.2
 */
export const SUITES_1_2 = [
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ...['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':')

export const TLS_MINIMUM = { minVersion: 'TLSv1.2', ciphers: `${SUITES_1_3.join(':')}:${SUITES_1_2}` } as const

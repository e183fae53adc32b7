/** Headers of every answer that keep a browser from running or showing anything but our own. */

/**
 * Only our own files are executed, and no other site can frame or read a page.
 *
 * @param styleHash `sha256-…` of the one style sheet that stands in a page; without it all come from files
 */
export const contentSecurity = (styleHash?: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'${styleHash === undefined ? '' : ` '${styleHash}'`}; img-src 'self' data:; ` +
  "font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export const SECURITY_HEADERS = {
  'content-security-policy': contentSecurity(),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Paths that the web process forwards to central. */

const API = ['api', 'twins']
/** First segments of the pages and of their static files; a test compares them with the routes. */
export const PAGES = [
  '',
  'alerts',
  'analytics',
  'audit',
  'audit.csv',
  'backups',
  'bacnet',
  'baselines',
  'buildings',
  'commission',
  'coverage',
  'devices',
  'discover',
  'edges',
  'enrol',
  'fault-rules',
  'faults',
  'faults.csv',
  'first-steps',
  'fleet',
  'home',
  'hub',
  'import',
  'log',
  'login',
  'logout',
  'modbus',
  'mqtt',
  'network',
  'overrides',
  'params',
  'password',
  'points',
  'preferences',
  'quantities',
  'rule-editor',
  'runs',
  'search',
  'settings',
  'setup',
  'site',
  'static',
  'system',
  'tenants',
  'trends',
  'updates',
  'users',
]
/** A segment that is still percent-encoded after this many rounds of decoding is malformed. */
const ROUNDS_MAX = 3

/**
 * @param url request target as received
 * @returns `malformed` for a path that two parsers could read differently: dot segments, empty segments, and encoded slashes or
 *   control characters, at any depth of encoding
 */
export function classifyPath(url: string, pages: boolean): 'forward' | 'unknown' | 'malformed' {
  const [path = ''] = url.split(/[?#]/)
  if (!path.startsWith('/')) return 'malformed'
  const segments = path.slice(1).split('/')
  if (!segments.every((segment, i) => (segment === '' ? i === segments.length - 1 : isPlain(segment)))) return 'malformed'
  const [first = ''] = segments
  return API.includes(first) || (pages && PAGES.includes(first)) ? 'forward' : 'unknown'
}

function isPlain(segment: string): boolean {
  let text = segment
  for (let round = 0; round <= ROUNDS_MAX; round++) {
    // oxlint-disable-next-line no-control-regex -- control characters are the point of this check
    if (text === '.' || text === '..' || /[/\\\u0000-\u001f\u007f]/.test(text)) return false
    if (!/%[0-9a-f]{2}/i.test(text)) return !text.includes('%') || round > 0
    try {
      text = decodeURIComponent(text)
    } catch {
      return false
    }
  }
  return false
}

/** Which addresses web hands to central. */

const API = ['api', 'twins']
/** First segments of the pages and of the files that they ask for; a test compares them with the routes. */
export const PAGES = [
  '',
  'analytics',
  'baselines',
  'coverage',
  'devices',
  'discover',
  'edges',
  'faults',
  'fleet',
  'home',
  'login',
  'logout',
  'modbus',
  'overrides',
  'params',
  'points',
  'quantities',
  'runs',
  'static',
]
/** A segment that is still encoded after so many rounds is no address of ours. */
const ROUNDS_MAX = 3

/**
 * @param url of the request, as it came
 * @returns `malformed` for an address that two readers could take for two different ones: dot segments, empty segments, slashes and
 *   controls that are encoded, however often
 */
export function judgeAddress(url: string, pages: boolean): 'forward' | 'unknown' | 'malformed' {
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
    // oxlint-disable-next-line no-control-regex -- exactly these are looked for
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

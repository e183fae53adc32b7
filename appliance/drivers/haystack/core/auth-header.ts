/**
 * The headers of Project Haystack's authentication over HTTP.
 *
 * @source project-haystack.org/doc/docHaystack/Auth; RFC 7235 section 2.1 for the grammar
 */
export type Challenge = { scheme: string; params: Record<string, string> }

const TOKEN = String.raw`[A-Za-z0-9!#$%&'*+.^_\x60|~-]+`
const SCHEME_AND_PARAM = new RegExp(`^(${TOKEN})\\s+(${TOKEN}\\s*=.*)$`, 's')
const SCHEME = new RegExp(`^${TOKEN}$`)
const PARAM = new RegExp(`^(${TOKEN})\\s*=\\s*(.*)$`, 's')
/** Commas within quotes part nothing. */
const PARTS = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g

/** Challenges of a `WWW-Authenticate` header, several of which may stand in one line. Schemes come in lower case. */
export function parseChallenges(header: string): Challenge[] {
  const challenges: Challenge[] = []
  for (const part of header.match(PARTS) ?? []) {
    const text = part.trim()
    const opening = SCHEME_AND_PARAM.exec(text)
    if (opening) challenges.push({ scheme: opening[1]!.toLowerCase(), params: {} })
    else if (SCHEME.test(text)) challenges.push({ scheme: text.toLowerCase(), params: {} })
    addParam(challenges.at(-1), opening ? opening[2]! : text)
  }
  return challenges
}

/** Parameters of an `Authentication-Info` header. */
export function parseParams(header: string): Record<string, string> {
  const holder: Challenge = { scheme: '', params: {} }
  for (const part of header.match(PARTS) ?? []) addParam(holder, part.trim())
  return holder.params
}

function addParam(challenge: Challenge | undefined, text: string): void {
  const param = PARAM.exec(text)
  if (!challenge || !param) return
  const [, name, value = ''] = param
  challenge.params[name!] = value.startsWith('"') ? value.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : value
}

/** base64url without padding, as every `username` and `data` is written. */
export const encodeData = (text: string): string => Buffer.from(text).toString('base64url')

/** Both alphabets, padded or not. */
export const decodeData = (text: string): string => Buffer.from(text, 'base64').toString()

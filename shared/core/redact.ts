/** Removes known secrets from a text that leaves the machine. */

/** Shorter values occur in ordinary words, and hiding them would hide those. */
const SECRET_MIN = 4
const MASK = '********'

/**
 * @param secrets as they are set; the password of an address (`smtp://user:password@host`) counts by itself too
 * @returns the text without any of them, also where it is written as in JSON or in an address
 */
export function redact(text: string, secrets: readonly string[]): string {
  const written = secrets
    .flatMap(secret => [secret, ...passwordOf(secret)])
    .filter(secret => secret.length >= SECRET_MIN)
    .flatMap(secret => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
  return [...new Set(written)].toSorted((a, b) => b.length - a.length).reduce((rest, one) => rest.replaceAll(one, MASK), text)
}

function passwordOf(secret: string): string[] {
  const { password = '' } = URL.parse(secret) ?? {}
  if (password === '') return []
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}

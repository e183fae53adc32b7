/** Hashes of passwords that people choose. The cost is stored with each hash, so that a later version may raise it. */
import { randomBytes, randomInt, scrypt, timingSafeEqual } from 'node:crypto'

/** 32 MiB and about a quarter of a second. @source OWASP Password Storage Cheat Sheet, scrypt, N=2^15, r=8, p=3 */
const COST = { ln: 15, r: 8, p: 3 }
/** Limits of a stored hash, so that no row of a database stops the process. */
const COST_MAX = { ln: 17, r: 8, p: 8 }
const SALT_BYTES = 16
const HASH_BYTES = 32
/** `$scrypt$ln=15,r=8,p=3$salt$hash`, salt and hash as base64url */
const FORMAT = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w-]+)\$([\w-]{43})$/

type Cost = typeof COST

/** @returns the hash of a new password with its cost and salt */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  return textOf(COST, salt, await derive(password, salt, COST))
}

/** @param stored undefined for a user that does not exist: it takes the same time and is never right */
export async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  const { cost, salt, hash } = parseHash(stored ?? DECOY)
  const isSame = timingSafeEqual(await derive(password, salt, cost), hash)
  return isSame && stored !== undefined
}

const textOf = ({ ln, r, p }: Cost, salt: Buffer, hash: Buffer): string =>
  `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`

/** Of no password. */
const DECOY = textOf(COST, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES))

/** @throws Error for a text that is no hash of this program, never with the text */
function parseHash(text: string): { cost: Cost; salt: Buffer; hash: Buffer } {
  const [, ln, r, p, salt = '', hash = ''] = FORMAT.exec(text) ?? []
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) }
  const fits =
    cost.ln >= 1 && cost.ln <= COST_MAX.ln && cost.r >= 1 && cost.r <= COST_MAX.r && cost.p >= 1 && cost.p <= COST_MAX.p
  if (!fits) throw new Error('a stored password hash cannot be read')
  return { cost, salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url') }
}

/** Keyboards write one letter in several ways, which the normal form makes equal. */
const derive = (password: string, salt: Buffer, { ln, r, p }: Cost): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const N = 2 ** ln
    const options = { N, r, p, maxmem: 2 * 128 * N * r }
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)))
  })

/** Without letters and digits that look alike on paper. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'
const GROUPS = 4
const GROUP_LENGTH = 4

/** @returns a first password such as `k7wd-m3qp-x9fh-2tza`, 79 bits */
export const randomPassword = (): string =>
  Array.from({ length: GROUPS }, () =>
    Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join(''),
  ).join('-')

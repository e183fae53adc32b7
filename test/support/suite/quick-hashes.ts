/**
 * Passwords and keys of backups at a small cost, in the process of a test. At full cost each takes a quarter of a second of a core, and a
 * test with a few users derives ten. What is stored names the full cost all the same, so it is for the site of one test alone. The tests of
 * `shared/node/auth/password-hash.ts` and of `shared/node/backup` use the full cost, and so does every main that is started as a process.
 */
import crypto, { type BinaryLike, type ScryptOptions } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

type Derived = (error: Error | null, key: Buffer) => void

/** The least cost that scrypt has, of the one with which passwords are hashed. */
const CHEAPER = 2 ** 14
const original = crypto.scrypt

/** From now on `scrypt` costs less in this process. Another cost still gives another key. */
export function useQuickHashes(): void {
  const quick = (password: BinaryLike, salt: BinaryLike, bytes: number, { N = 2, ...rest }: ScryptOptions, done: Derived) =>
    original(password, salt, bytes, { ...rest, N: Math.max(2, N / CHEAPER) }, done)
  Object.assign(crypto, { scrypt: quick })
  syncBuiltinESMExports()
}

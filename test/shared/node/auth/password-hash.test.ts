import test from 'ava'
import { scryptSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hashPassword, randomPassword, verifyPassword } from '#shared/node/auth/password-hash.ts'

test('a hash holds its cost and salt, and its own password alone', async t => {
  const [hash, other] = await Promise.all([hashPassword('correct horse battery'), hashPassword('correct horse battery')])
  t.regex(hash, /^\$scrypt\$ln=15,r=8,p=3\$[\w-]{22}\$[\w-]{43}$/)
  t.not(hash, other, 'each has a salt of its own')
  t.true(await verifyPassword('correct horse battery', hash))
  t.false(await verifyPassword('correct horse batterz', hash))
  t.false(await verifyPassword('', hash))
})

test('a hash of another cost is compared at its own cost', async t => {
  const salt = Buffer.from('0123456789abcdef')
  const key = scryptSync('an older password', salt, 32, { N: 2 ** 10, r: 4, p: 1 })
  const hash = `$scrypt$ln=10,r=4,p=1$${salt.toString('base64url')}$${key.toString('base64url')}`
  t.true(await verifyPassword('an older password', hash))
  t.false(await verifyPassword('another password', hash))
})

test('one letter written in two ways is one password', async t => {
  t.true(await verifyPassword('caf\u0065\u0301 au lait', await hashPassword('caf\u00e9 au lait')))
})

for (const stored of ['', 'plain text', '$scrypt$ln=30,r=8,p=1$c2FsdA$' + 'A'.repeat(43), '$scrypt$ln=15,r=8,p=3$c2FsdA$short']) {
  test(`a stored text that is no hash is an error and never right: ${stored.slice(0, 24)}`, async t => {
    const error = await t.throwsAsync(verifyPassword('plain text', stored))
    t.false(error.message.includes('plain text'))
  })
}

test('a user that does not exist is never right', async t => {
  t.false(await verifyPassword('anything', undefined))
})

test('passwords and keys are compared by timingSafeEqual alone', t => {
  for (const file of ['password-hash.ts', 'password-login.ts', 'csrf-token.ts']) {
    const text = readFileSync(new URL(`../../../../shared/node/auth/${file}`, import.meta.url), 'utf8')
    t.regex(text, /timingSafeEqual\(/)
    t.notRegex(text, /(?<!typeof )(password|hash|secret|derived|key) (===|!==) (?!undefined|before)/, file)
  }
})

test('first passwords have four groups of letters and digits that do not look alike, and differ', t => {
  const made = Array.from({ length: 200 }, randomPassword)
  for (const password of made) t.regex(password, /^([a-hjkmnp-z2-9]{4}-){3}[a-hjkmnp-z2-9]{4}$/)
  t.is(new Set(made).size, 200)
})

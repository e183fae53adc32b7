import test from 'ava'
import { redact } from '#shared/core/redact.ts'

const SMTP = 'smtp://mailer:p%40ss-word@mail.example:587'
const CASES: [title: string, text: string, secrets: string[], expected: string][] = [
  ['as it is', 'sent hunter-two away', ['hunter-two'], 'sent ******** away'],
  ['as JSON writes it', '{"a":"say \\"please\\" now"}', ['say "please"'], '{"a":"******** now"}'],
  ['as an address writes it', 'GET /?token=a%2Fb%2Fc%2Fd', ['a/b/c/d'], 'GET /?token=********'],
  ['an address with a password', `cannot reach ${SMTP}`, [SMTP], 'cannot reach ********'],
  ['the password of an address alone', 'refused p@ss-word and p%40ss-word', [SMTP], 'refused ******** and ********'],
  ['the longer of two first', 'secret-one-and-more', ['secret-one', 'secret-one-and-more'], '********'],
  ['a short one stays', 'the fan is on', ['fan'], 'the fan is on'],
]

for (const [title, text, secrets, expected] of CASES) {
  test(`a secret is hidden: ${title}`, t => t.is(redact(text, secrets), expected))
}

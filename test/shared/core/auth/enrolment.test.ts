import test from 'ava'
import { enrolmentLine, readEnrolmentLine } from '#shared/core/auth/enrolment.ts'

const AUTHORITY = '0123456789abcdef0123456789abcdef'

test('a line is read as it was written, with and without a tenant', t => {
  for (const tenant_id of [undefined, 'acme', 'a-1']) {
    for (const hub_url of ['https://hub.example', 'http://10.0.0.5:8080', 'https://[2001:db8::1]:8443']) {
      const read = readEnrolmentLine(` ${enrolmentLine(`${hub_url}/`, AUTHORITY, tenant_id)}\n`)
      t.deepEqual(read, { hub_url, authority: AUTHORITY, ...(tenant_id !== undefined && { tenant_id }) })
    }
  }
  t.deepEqual(readEnrolmentLine(`https://hub.example#${AUTHORITY}`), { hub_url: 'https://hub.example', authority: AUTHORITY })
})

test('what is no such line is not read', t => {
  for (const text of [
    '',
    'https://hub.example/',
    `https://hub.example/#${AUTHORITY}0`,
    `https://hub.example/#${AUTHORITY.toUpperCase()}`,
    `https://hub.example/Acme#${AUTHORITY}`,
    `https://hub.example/acme/#${AUTHORITY}`,
    `https://hub.example/acme?x#${AUTHORITY}`,
    `https://someone@hub.example/#${AUTHORITY}`,
    `ftp://hub.example/#${AUTHORITY}`,
  ]) {
    t.is(readEnrolmentLine(text), undefined, text)
  }
})

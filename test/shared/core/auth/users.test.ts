import test from 'ava'
import { refusePassword, refuseUsername, USERNAME_PATTERN } from '#shared/core/auth/users.ts'

for (const [username, fits] of [
  ['anna', true],
  ['a', true],
  ['anna.meier@example.org', true],
  ['7-night_shift', true],
  ['x'.repeat(64), true],
  ['x'.repeat(65), false],
  ['', false],
  ['Anna', false],
  ['.anna', false],
  ['anna meier', false],
  ['anna#password', false],
  ['token:anna', false],
  ['?anna', false],
  ['ännä', false],
] as const) {
  test(`${JSON.stringify(username.slice(0, 30))} of ${username.length} characters ${fits ? 'can' : 'cannot'} be a user name`, t => {
    t.is(new RegExp(USERNAME_PATTERN).test(username), fits)
  })
}

test('nobody may have the name of a login of the settings, or one that the audit uses for a program', t => {
  for (const username of ['admin', 'agent', 'viewer', 'api-key', 'open', 'nobody', 'local', 'hub'])
    t.regex(refuseUsername(username)!, /name of the program/)
  t.is(refuseUsername('anna'), undefined)
  t.is(refuseUsername('constructor'), undefined)
})

for (const [what, password, refused] of [
  ['of 11 characters', 'a'.repeat(11), /has 11 characters/],
  ['of 12 equal letters', 'a'.repeat(12), undefined],
  ['of 200 characters', 'é'.repeat(200), undefined],
  ['of 201 characters', 'a'.repeat(201), /has 201 characters/],
  ['of 12 characters of two units each', '😀'.repeat(12), undefined],
  ['of 11 characters of two units each', '😀'.repeat(11), /has 11 characters/],
  ['that is the user name', 'anna.meier@example.org', /is the user name/],
  ['that is the user name in capitals', ' ANNA.MEIER@example.org ', /is the user name/],
  ['that contains the user name', 'anna.meier@example.org!', undefined],
] as const) {
  test(`a password ${what} is ${refused ? 'refused' : 'taken'}`, t => {
    const why = refusePassword(password, 'anna.meier@example.org')
    if (refused) t.regex(why!, refused)
    else t.is(why, undefined)
    t.false((why ?? '').includes(password))
  })
}

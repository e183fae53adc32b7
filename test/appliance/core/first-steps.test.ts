import test from 'ava'
import { type FirstFacts, firstSteps, firstStepsLeft } from '#appliance/core/first-steps.ts'
import { FIRST_BUILDING } from '#appliance/core/system/first-site.ts'

const NEW: FirstFacts = {
  admins: 0,
  building: FIRST_BUILDING,
  clock_synced: false,
  clock_offset_ms: null,
  isEnrolled: false,
  devices: 0,
}
const CASES: [string, Partial<FirstFacts>, string][] = [
  ['a new box', {}, 'open open open choice open'],
  ['an admin with a name', { admins: 1 }, 'done open open choice open'],
  ['a name for the building alone', { building: { ...FIRST_BUILDING, name: 'School' } }, 'open open open choice open'],
  ['an id for the building alone', { building: { ...FIRST_BUILDING, building_id: 'school' } }, 'open open open choice open'],
  ['a building', { building: { building_id: 'school', name: 'School' } }, 'open done open choice open'],
  ['a time server', { clock_synced: true }, 'open open done choice open'],
  ['the time of a hub', { clock_offset_ms: -4900 }, 'open open done choice open'],
  ['a clock that differs from the hub', { clock_synced: null, clock_offset_ms: 5100 }, 'open open open choice open'],
  ['a time service that does not tell', { clock_synced: null }, 'open open choice choice open'],
  ['a hub', { isEnrolled: true }, 'open open open done open'],
  ['a device', { devices: 1 }, 'open open open choice done'],
]

for (const [name, facts, states] of CASES) {
  test(`the first steps with ${name}`, t => {
    const given = { ...NEW, ...facts }
    t.is(Object.values(firstSteps(given)).join(' '), states)
    t.is(firstStepsLeft(given), states.split(' ').filter(state => state === 'open').length)
  })
}

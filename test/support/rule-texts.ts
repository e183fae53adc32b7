/** Rules for tests, good and bad. */

/** Supply air above a limit; its own tests pass. */
export const warmRule = (id = 'TEST-WARM', limit = 70) => `id: ${id}
title: Supply air above ${limit} °F
equipment: [ahu]
roles: { sa_t: degF }
params:
  limit: { default: ${limit}, min: 40, max: 100, unit: degF }
when: sa_t > limit
persistence: 30m
clear: 30m
severity: 2
cause: { cooling_coil: 0.6 }
explains: The supply air had {sa_t} for {duration}.
source: test
tests:
  - name: warm for an hour
    step: 5m
    sa_t: ${limit + 10}x12 ${limit - 10}x24
    faults: [00:00-01:00]
  - name: cool
    step: 5m
    sa_t: ${limit - 10}x12
    status: pass
    faults: []
`

/** Reads a role that nothing here has. */
export const needyRule = `id: TEST-NEEDY
title: Needs what is not there
equipment: [ahu]
roles: { sa_t: degF, ra_rh: fraction }
when: sa_t > 70 and ra_rh > 0.5
persistence: 30m
severity: 3
explains: The return air was damp for {duration}.
source: test
tests:
  - name: damp
    step: 5m
    sa_t: 80x12
    ra_rh: 0.6x12
    faults: [00:00-]
`

/** Checks, but its own test does not pass. */
export const failingRule = warmRule('TEST-FAILING').replace('00:00-01:00', '00:00-00:35')
/** Compares a temperature with a pressure. */
export const crookedRule = warmRule('TEST-CROOKED').replace('when: sa_t > limit', 'when: sa_t > 5 Pa')
export const brokenYaml = 'id: TEST-BROKEN\n  title: [\n'

/** Texts that the editor begins with. */

/** A small rule that checks, and whose tests pass. */
export const NEW_RULE_TEXT = `id: OWN-SUPPLY-WARM
title: Supply air warmer than its limit
kind: fault
equipment: [ahu]
roles: { sa_t: degC, fan_status: bool }
params:
  limit: { default: 25, min: 15, max: 40, unit: degC }
gate: fan_status
when: sa_t > limit
persistence: 30m
severity: 3
cause: { cooling_coil: 0.5 }
explains: The supply air had {sa_t} for {duration}.
source: our own experience
sources:
  limit: "write here why the limit is what it is"
test_base: { step: 5m, rows: 24, sa_t: 18, fan_status: 1 }
tests:
  - { name: warm for an hour, sa_t: 30x12 18x12, faults: [00:00-01:00] }
  - { name: at the limit, sa_t: 25, faults: [] }
  - { name: the fan stands, sa_t: 30, fan_status: 0, faults: [] }
`

/** @returns the text under another id and title: two rules share neither. */
export const copyOf = (yaml: string): string =>
  yaml.replace(/^id: *(\S+)/m, 'id: OWN-$1').replace(/^title: *(.*)$/m, (_all, title: string) => `title: ${ownTitle(title)}`)

/** A quoted title stays quoted. */
const ownTitle = (title: string): string => title.replace(/(["']?)\s*$/, ' (own)$1')

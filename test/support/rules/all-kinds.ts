/** Rules over air handlers and zones, one for everything that the engine reckons. */
import type { Rule } from '#shared/core/rules/check/rule.ts'
import { ruleOf, yamlOf } from './helpers.ts'

const AHU = { equipment: '[ahu]', roles: '{ sa_t: degC, ma_t: degC, oa_damper: fraction }', persistence: '20m', clear: '45m' }
const VAV = { equipment: '[vav]', roles: '{ zone_t: degC }', persistence: '30m' }
const OWN_PAST =
  '{ rise: { of: sa_t - ma_t, when: "oa_damper >= 0", stat: median, days: 3, min_days: 1, minimum: 5m, fallback: 1 K } }'
/** One rule for everything that is remembered from day to day. */
export const RULES: Rule[] = [
  {
    when: 'sa_t > ma_t + 2 and oa_damper < 0.8',
    cause: '{ coil: 0.7, damper: { oa_damper > 0.3: 0.4 } }',
    impact: '{ kind: leak, waste: sa_t - ma_t - 3 K }',
  },
  { when: 'avg(sa_t, 47m) > ma_t', smooth: '7m', suppresses: '[R0, V*]' },
  {
    when: 'avg(sa_t, 30h) > 19',
    gate: 'fan_on',
    settle: '13m',
    explains: '"{sa_t} for {duration}"',
    impact: '{ kind: leak, waste: "sa_t - avg(sa_t, 25h)" }',
  },
  { when: 'range(sa_t, 1h) > 3 K and max(ma_t, 28h) > 15', gate: 'held(oa_damper > 0.1, 20m)' },
  { when: 'min(ma_t, 27m) < 20 and min(sa_t, 90s) < 22' },
  { when: 'travel(oa_damper, 26h) > 1 or reversals(oa_damper, 30h, 0.1) >= 2', daily_minimum: '40m', clear: '6h' },
  { when: 'duty(sa_t > ma_t, 25h) > 0.4 and since(oa_damper > 0.5) < 30h' },
  { when: 'median(sa_t, 26h) > percentile(ma_t, 25h, 0.3) + 1' },
  { when: 'delta(sa_t, 25h) > 1 K or cusum(sa_t - ma_t, 1 K, 26h) > 2 or lag(ma_t, 30h) > 25' },
  { when: 'day_median(sa_t - ma_t) > 0 K', gate: 'oa_damper >= 0.2', daily_minimum: '30m' },
  { when: 'count(sa_t > 18, 30h) >= 2 and starts(oa_damper > 0.5, 30h) >= 1 and changes(ma_t, 26h) > 1' },
  { when: 'coverage(sa_t, 26h) < 0.9 or age(ma_t) > 2h', severity: '2', suppresses: '[R1]' },
  { when: 'abs(sa_t - ma_t - base(rise)) > 2 K', baseline: OWN_PAST, daily_minimum: '2h', clear: '12h' },
  {
    when: 'sa_t - ma_t > base(rise) + spread(rise)',
    baseline: OWN_PAST,
    suppresses: '[R12]',
    settle: '5m',
    gate: 'oa_damper > 0',
  },
  {
    when: 'sa_t - base(law) > 1 K or spread(law) > 3 K',
    baseline: '{ law: { of: sa_t, on: [ma_t, oa_damper, "ma_t - lag(ma_t, 1h)"], days: 3, min_days: 2, minimum: 30m } }',
    clear: '6h',
  },
  { when: 'zones(zone_t, avg) > 21 and wx_oa_t < 22', roles: '{ wx_oa_t: degC }', suppresses: '[V0]', severity: '2' },
  { when: 'flips(oa_damper, 30h) >= 2 or asked_travel(oa_damper, 26h) > 0.5 or override_days(oa_damper, 3d) > 1' },
  { when: 'overridden(oa_damper) and command(oa_damper) < 0.5', relabels: '[R3, R4]', kind: 'override', clear: '3h' },
  { roles: '{ x: sensor }', when: 'x > highest(x) * 0.4 and avg(x, 1h) > lowest(x)', suppresses: '[readers]', severity: '2' },
].map((keys, index) => ruleOf(yamlOf({ ...AHU, ...keys, id: `R${index}` })))
export const ZONE_RULES: Rule[] = [
  {
    when: 'zone_t > 21 and parent(sa_t) > 18',
    gate: 'fan_on',
    clear: '2h',
    impact: '{ kind: comfort, waste: zone_t - parent(sa_t) }',
  },
  {
    when: 'zone_t > base(own) + 1 K',
    baseline: '{ own: { of: zone_t, when: "zone_t > 0", stat: avg, days: 4, min_days: 2, fallback: 21 } }',
    clear: '1h',
  },
].map((keys, index) => ruleOf(yamlOf({ ...VAV, ...keys, id: `V${index}` })))

import test from 'ava'
import {
  foreignMeasure,
  formatParam,
  formatRoleValue,
  fromTyped,
  measureOf,
  roleWords,
  toTyped,
} from '#shared/central/ui/measure.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { inUnitsOf, withValues } from '#shared/central/ui/measure-text.ts'
import {
  formatAge,
  formatAxisDay,
  formatAxisZone,
  formatMoment,
  formatZone,
  moment,
  nextMoment,
} from '#shared/central/ui/moment.ts'
import { DAY, HOUR, MINUTE, SECOND } from '#shared/core/time.ts'

const NOW = Date.UTC(2026, 10, 20, 20, 2, 10)
const CHICAGO = { now: NOW, timezone: 'America/Chicago' }

for (const [what, role, value, system, shown] of [
  ['a temperature in a building of US units', 'sa_t', 20, 'us', '68.0 °F'],
  ['the same in one of SI units', 'sa_t', 20, 'si', '20.0 °C'],
  ['a frosty one with a true minus', 'oa_t', -12.34, 'si', '−12.3 °C'],
  ['a value that rounds to zero has no sign', 'oa_t', -0.01, 'si', '0.0 °C'],
  ['a signal as percent', 'clg_valve', 0.4, 'si', '40 %'],
  ['an air flow', 'zone_flow', 0.5, 'us', '1,059 cfm'],
  ['a water flow is not an air flow', 'chw_flow', 0.01, 'us', '159 gpm'],
  ['a duct pressure', 'duct_static', 250, 'us', '1.00 in.w.c.'],
  ['a water pressure', 'chw_dp', 100_000, 'us', '14.5 psi'],
  ['a switch', 'fan_status', 1, 'us', 'on'],
  ['a state', 'mode', 3, 'us', '3'],
  ['nothing', 'sa_t', null, 'us', 'no value'],
  ['not a number', 'sa_t', Number.NaN, 'us', 'no value'],
  ['a role that is not in the table', 'no_such_role', 7, 'si', '7.0'],
] as const) {
  test(`${what} reads ${shown}`, t => t.is(formatRoleValue(role, value, system), shown))
}

for (const [value, unit, system, shown] of [
  [1.1, 'K', 'us', '1.98 °F'],
  [1.1, 'K', 'si', '1.1 K'],
  [5, 'K/h', 'us', '9 °F/h'],
  [60, 'min', 'us', '60 min'],
  [0.95, 'fraction', 'si', '95 %'],
  [25, 'Pa', 'us', '0.1 in.w.c.'],
  [3, 'count', 'si', '3'],
] as const) {
  test(`a threshold of ${value} ${unit} reads ${shown}`, t => t.is(formatParam(value, unit, system), shown))
}

for (const [text, roles, shown] of [
  ['It was 2.3 K above 13.0 °C.', ['sa_t'], 'It was 4.1 °F above 55.4 °F.'],
  ['It lacks 75 Pa of 250 Pa', ['duct_static'], 'It lacks 0.30 in.w.c. of 1.00 in.w.c.'],
  ['It gave -0.5 K/h', ['oa_t'], 'It gave −0.9 °F/h'],
  ['0.05 m³/s of air', ['zone_flow'], '106 cfm of air'],
  ['0.05 m³/s of water', ['chw_flow'], '793 gpm of water'],
  ['5 Kelvins, room 12 Paris, 40 % and 68.0 °F stay', ['sa_t'], '5 Kelvins, room 12 Paris, 40 % and 68.0 °F stay'],
] as const) {
  test(`"${text}" reads "${shown}" in a building of US units`, t => t.is(inUnitsOf(text, 'us', [...roles]), shown))
}

test('a sentence in SI units stays as it is in a building that uses them', t =>
  t.is(inUnitsOf('It was 2.3 K above 13.0 °C and lacked 75 Pa.', 'si', []), 'It was 2.3 K above 13.0 °C and lacked 75 Pa.'))

test('a condition carries the value behind each name', t => {
  const evidence = {
    inputs: { sa_t: 20, clg_valve: null },
    params: { tolerance: { value: 1, unit: 'K', source: 'default' as const } },
  }
  t.is(
    withValues('sa_t > tolerance and clg_valve < toString', evidence, 'si').text,
    'sa_t <span class="value">20.0 °C</span> &gt; tolerance <span class="value">1 K</span> and clg_valve <span class="value">no value</span> &lt; toString',
  )
})

test('a difference of temperatures takes no offset', t => t.is(measureOf('K', 'us').offset, 0))

test('only a unit of the other system has another way to be typed', t => {
  const labels = (system: 'si' | 'us', ...units: string[]) => units.map(unit => foreignMeasure(unit, system)?.label)
  t.deepEqual(labels('us', 'K', 'degC', 'Pa', 'm3/s'), ['°F', '°F', 'in.w.c.', 'cfm'])
  t.deepEqual(
    labels('us', 'degF', 'psi', 'fraction', 'kW', 'min', 'count'),
    Array.from({ length: 6 }, () => undefined),
  )
  t.deepEqual(labels('si', 'degF', 'inwc', 'gpm'), ['°C', 'Pa', 'L/s'])
  t.deepEqual(
    labels('si', 'degC', 'K', 'kPa', 'm3/s', 'fraction'),
    Array.from({ length: 5 }, () => undefined),
  )
})

test('every bound and default of the catalogue can be typed as it is shown in US units', t => {
  let typed = 0
  for (const { id, params } of loadRules(['rules']).rules) {
    for (const [name, { unit, min, max, default: value }] of Object.entries(params)) {
      const measure = foreignMeasure(unit, 'us')
      if (!measure) continue
      for (const one of [min, max, value]) t.is(fromTyped(toTyped(one, measure), measure), one, `${id} ${name}`)
      typed++
    }
  }
  t.true(typed > 100, String(typed))
})

test('what was typed is shown again as it was typed', t => {
  const kelvin = measureOf('K', 'us')
  for (const typed of [0.1, 1, 9.5, 4.25, -3, 0, 100.3]) t.is(toTyped(fromTyped(typed, kelvin), kelvin), typed)
  t.is(fromTyped(68, measureOf('degC', 'us')), 20)
})
test('a role is named in words', t => t.is(roleWords('sa_t'), 'supply air temperature'))

for (const [what, at, shown] of [
  ['this afternoon', NOW - HOUR, '13:02'],
  ['yesterday', NOW - DAY, 'Thu 19 Nov 14:02'],
  ['last evening, which is today in UTC', Date.UTC(2026, 10, 20, 4, 30), 'Thu 19 Nov 22:30'],
  ['another year', NOW - 400 * DAY, 'Thu 16 Oct 2025 15:02'],
] as const) {
  test(`${what} reads ${shown} in Chicago`, t => t.is(formatMoment(at, CHICAGO), shown))
}

for (const [ms, shown] of [
  [38 * SECOND, '38\u00a0s ago'],
  [0, 'now'],
  [-2 * HOUR, 'in 2\u00a0h'],
  [3 * DAY + 4 * HOUR, '3\u00a0d\u00a04\u00a0h ago'],
  [12 * MINUTE, '12\u00a0min ago'],
] as const) {
  test(`${ms} ms reads ${shown}`, t => t.is(formatAge(NOW - ms, NOW), shown))
}

test('an axis names its zone, in winter and in summer', t => {
  t.is(formatZone(NOW, 'America/Chicago'), 'America/Chicago (CST, UTC−6)')
  t.is(formatZone(Date.UTC(2026, 6, 1), 'America/Chicago'), 'America/Chicago (CDT, UTC−5)')
  t.is(formatZone(NOW, 'Asia/Kathmandu'), 'Asia/Kathmandu (UTC+5:45)')
  t.is(formatZone(NOW, 'UTC'), 'UTC')
})

test('an axis names days without their year, which stands below it where it is not this one', t => {
  const here = { now: NOW, timezone: 'UTC' }
  const [from, to] = [Date.UTC(2025, 10, 11), Date.UTC(2026, 0, 1)]
  t.is(formatAxisDay(from, 'UTC'), '11 Nov')
  t.is(formatAxisZone(from, to, here), '2025, UTC')
  t.is(formatAxisZone(from, to + 1, here), 'UTC', 'its days carry their years')
  t.is(formatAxisZone(to, NOW, here), 'UTC')
})

test('a moment is readable by machines too', t =>
  t.is(moment(NOW, CHICAGO).text, '<time datetime="2026-11-20T20:02:10Z">14:02</time>'))

test('what is planned for an instant that has passed is due since then, never next', t => {
  const here = { now: Date.UTC(2026, 2, 1, 14), timezone: 'UTC' }
  const text = (ms: number) => String(nextMoment(ms, here)).replaceAll(/<[^>]*>/g, '')
  t.is(text(here.now - 36 * 60_000), 'due since 13:24, 36\u00a0min')
  t.is(text(here.now + 28 * 60_000), '14:28, in 28\u00a0min')
})

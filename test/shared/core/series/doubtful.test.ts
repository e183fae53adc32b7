import test from 'ava'
import { leapOf } from '#shared/core/model/role-leap.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { DOUBT_PAST_MS, withoutDoubtful } from '#shared/core/series/doubtful.ts'
import { MINUTE } from '#shared/core/time.ts'
import { seeded } from '../../../support/wire.ts'

type Case = { name: string; role: string; unit?: string; step?: number; read: number[]; doubted: number[] }

/** `values` every `step` minutes. @returns the indices of those that are doubted */
function doubtedOf({ role, unit = ROLES[role]!.unit, step = 5, read }: Omit<Case, 'name' | 'doubted'>): number[] {
  const ts = Float64Array.from(read, (_, i) => i * step * MINUTE)
  const { scale, offset } = conversion(unit, ROLES[role]!.unit)!
  const values = Float64Array.from(read, value => value * scale + offset)
  const believed = withoutDoubtful(ts, values, leapOf(role)!, offset, ROLES[role]!.range)
  return [...believed.keys()].filter(i => Number.isNaN(believed[i]!) && !Number.isNaN(values[i]!))
}

const times = (n: number, value: number): number[] => Array.from({ length: n }, () => value)
const CASES: Case[] = [
  {
    name: 'what stood still before it leaps is doubted once',
    role: 'oa_t',
    unit: 'degF',
    read: [...times(40, 90), 46, 46, 46, 45],
    doubted: [40],
  },
  { name: 'and as long as it is zero', role: 'zone_t', read: [...times(40, 21), 0, 0, 21], doubted: [40, 41] },

  { name: 'a single zero', role: 'zone_t', read: [21, 0, 21.2], doubted: [1] },
  { name: 'a zero of supply air, which is no leap', role: 'sa_t', read: [13, 0, 13], doubted: [1] },
  { name: '3 K from zero are no leap to zero', role: 'oa_t', read: [3, 0, 1], doubted: [] },
  { name: 'zero in the unit of the point', role: 'sa_t', unit: 'degF', read: [55, 0, 55], doubted: [1] },
  { name: '0 °C of a point in °F is 32', role: 'sa_t', unit: 'degF', read: [55, 32, 55], doubted: [] },
  { name: 'a room does not gain 9 K in a sample', role: 'zone_t', read: [21, 30, 21], doubted: [1] },
  { name: '8 K may be', role: 'zone_t', read: [21, 29, 21], doubted: [] },
  { name: 'what moves after its leap is believed', role: 'zone_t', read: [21, 30, 30.1, 30.1], doubted: [1] },
  {
    name: 'a leap that sits still for 90 min is believed',
    role: 'zone_t',
    read: [21, ...times(20, 30)],
    doubted: times(18, 0).map((_, i) => i + 1),
  },
  {
    name: 'a link that is lost for an hour',
    role: 'zone_t',
    read: [21, ...times(12, 0), 21.3, 21.3],
    doubted: times(12, 0).map((_, i) => i + 1),
  },
  { name: 'a return to somewhere else is a leap too', role: 'zone_t', read: [21, 0, 30, 30.1], doubted: [1, 2] },
  { name: 'a link that comes and goes', role: 'zone_t', read: [21, 0, 21.1, 0, 21], doubted: [1, 3] },
  {
    name: 'what swings between two values is believed from the second on',
    role: 'sa_t',
    read: [13, 50, 13, 50, 13],
    doubted: [1],
  },
  { name: 'what cannot be is left to the range', role: 'zone_t', read: [21, -999, 21, 200, 21], doubted: [] },
  { name: 'and tells nothing of the next', role: 'zone_t', read: [21, -999, 30, 21], doubted: [2] },
  { name: 'nor does a sample without a value', role: 'zone_t', read: [21, Number.NaN, 30, 21], doubted: [2] },
  { name: 'samples 90 min apart tell of each other', role: 'zone_t', step: 90, read: [21, 30, 21], doubted: [1] },
  { name: 'samples two hours apart do not', role: 'zone_t', step: 120, read: [21, 0, 21], doubted: [] },
  { name: 'the first sample has nothing to leap from', role: 'zone_t', read: [0, 21, 21.1], doubted: [1] },
]

for (const { name, doubted, ...read } of CASES) test(`doubted samples: ${name}`, t => t.deepEqual(doubtedOf(read), doubted))

test('signals, commands, set points, power, flows and pressures may leap', t => {
  for (const role of [
    'clg_valve',
    'clg_valve_pos',
    'fan_status',
    'sa_t_sp',
    'kw',
    'kwh',
    'sa_flow',
    'chw_flow',
    'duct_static',
    'no_role',
  ])
    t.is(leapOf(role), undefined, role)
})

test('what lies further back than DOUBT_PAST_MS decides nothing', t => {
  const random = seeded(7)
  for (let round = 0; round < 300; round++) {
    let at = 0
    const ts = Float64Array.from({ length: 120 }, () => (at += Math.ceil(random() * 40) * MINUTE))
    let value = 21
    const values = ts.map(() => {
      if (random() < 0.3) value = [0, 21, 21.1, 30, 40, Number.NaN, -999][Math.floor(random() * 7)]!
      return value
    })
    const judged = (from: number) =>
      withoutDoubtful(ts.slice(from), values.slice(from), leapOf('zone_t')!, 0, ROLES.zone_t!.range)
    const cut = Math.floor(random() * 120)
    const known = ts.findIndex(t => t >= ts[cut]! - DOUBT_PAST_MS)
    t.deepEqual(judged(known).slice(cut - known), judged(0).slice(cut))
  }
})

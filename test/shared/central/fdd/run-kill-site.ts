/** The story of a box that is killed again and again: what it gets before each of its runs, and where that run dies. */
import { HOUR } from '#shared/core/time.ts'
import { ruleOf, yamlOf } from '../../../support/rules/helpers.ts'
import { point, type Sample, samplesOf, type Site, unit } from '../../../support/sites/run-box.ts'

export const T = Date.UTC(2026, 2, 2)
export const h = (hours: number): number => T + hours * HOUR
const P = 'A.sa_t'
const OWN = '{ own: { of: sa_t, when: "sa_t > 0", stat: median, days: 5, min_days: 1, fallback: 15 } }'

export const SITE: Site = {
  rules: [
    ruleOf(yamlOf({ id: 'WARM', when: 'sa_t > 20', persistence: '30m', clear: '30m' })),
    ruleOf(yamlOf({ id: 'PAST', when: 'sa_t > base(own) + 1', baseline: OWN, persistence: '1h', clear: '1h' })),
  ],
  equipment: [unit('A')],
  points: [point('A', 'sa_t', 'degC')],
}

/** What the sensor says in the end: warm from hour 10 to 12, and from hour 66 on. */
const real = (t: number): number => ((t >= h(10) && t < h(12)) || t >= h(66) ? 25 : 15)
const between = (from: number, to: number, value = real) => samplesOf(P, [h(from), h(to)], value)

/** Where a run dies: its states are written, its findings about to be stored, stored, the change marks settled, others told. */
export const DEATHS = ['evaluated', 'storing', 'stored', 'settled', 'told'] as const
export type Death = (typeof DEATHS)[number]
type Step = { samples: Sample[]; at: number; dies?: Death }

export const STEPS: Step[] = [
  { samples: between(0, 20), at: h(20) },
  // A sensor lies for three hours.
  { samples: between(20, 44, t => (t >= h(30) && t < h(33) ? 40 : real(t))), at: h(44), dies: 'stored' },
  { samples: between(44, 46), at: h(46) },
  { samples: [...between(46, 50), ...between(30, 33)], at: h(50), dies: 'storing' },
  { samples: [], at: h(51), dies: 'stored' },
  { samples: between(50, 70), at: h(70), dies: 'settled' },
  { samples: between(70, 74).filter((_, i) => i !== 20), at: h(74), dies: 'told' },
  { samples: between(71, 72), at: h(75), dies: 'evaluated' },
  { samples: between(74, 76), at: h(76) },
]

/** Baselines of the fixture's air handler, as a run leaves them: a warm difference, and a cold reading of temperature. */
import type { CentralContext } from '#shared/central/context.ts'
import type { RuleBaseline } from '#shared/core/rules/evaluate/run-types.ts'

const OWNER = { rule_id: 'AHU-SUPPLY-WARM', equipment_id: 'ahu-1' }
export const BASELINES: RuleBaseline[] = [
  {
    ...OWNER,
    name: 'usual',
    value: 2.3,
    spread: 0.3,
    days_used: 3,
    dates: ['2026-11-17', '2026-11-18', '2026-11-19'],
    left_out: [{ date: '2026-11-16', why: 'SEN-FLAT' }],
    cold: false,
    min_days: 3,
    unit: 'K',
    absolute: false,
    fallback: 1,
    tolerance_cold: 2,
  },
  {
    ...OWNER,
    name: 'level',
    value: 13,
    spread: null,
    days_used: 1,
    dates: ['2026-11-19'],
    left_out: [],
    cold: true,
    min_days: 4,
    unit: 'degC',
    absolute: true,
    fallback: 13,
    tolerance_cold: 2,
  },
]

export const keepBaselines = ({ baselines }: Pick<CentralContext, 'baselines'>): void =>
  baselines.keep({ building_id: 'school', date: '2026-11-20', today: '2026-11-20', looked: [OWNER], baselines: BASELINES })

/** The shipped rules, as they are: a column is taken only while a rule still reads it. */
import test from 'ava'
import { TemplateCache } from '#shared/core/rules/compile/compile-equipment.ts'
import { ColumnPool } from '#shared/core/rules/evaluate/column-pool.ts'
import { DAY } from '#shared/core/time.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { dataAt, diceOf, type Plan, runOver, worldOf } from '../../../../support/rules/world.ts'

const { rules: SHIPPED } = loadRules([new URL('../../../../../rules', import.meta.url).pathname])
const HANDLER =
  'oa_t ma_t ra_t sa_t sa_t_sp* duct_static duct_static_sp fan_cmd fan_status fan_speed sa_flow oa_damper* clg_valve* htg_valve occ'
const PLAN: Plan = {
  ahu: { type: 'ahu', roles: HANDLER.split(' '), feeds: ['vav-1', 'vav-2'] },
  'vav-1': { type: 'vav', roles: ['zone_t', 'damper', 'zone_flow', 'zone_flow_sp', 'reheat_valve'] },
  'vav-2': { type: 'vav', roles: ['zone_t', 'damper', 'zone_flow', 'zone_flow_sp', 'reheat_valve'] },
}

/** Counts the columns that are in use. */
class CountedColumns extends ColumnPool {
  taken = 0
  inUse = 0
  most = 0

  override take(length: number): Float64Array {
    this.taken += 1
    this.most = Math.max(this.most, ++this.inUse)
    return super.take(length)
  }

  override release(column: Float64Array): void {
    if (column.length > 0) this.inUse -= 1
    super.release(column)
  }
}

class CountedCache extends TemplateCache {
  override readonly columns = new CountedColumns()
}

test('of the columns of a day few are in memory at once, and all are given back', t => {
  const dice = diceOf(2026)
  const rules = SHIPPED.filter(({ equipment }) => equipment.some(type => ['any', 'ahu', 'vav'].includes(type)))
  const world = worldOf(PLAN, 'Europe/Berlin', Date.UTC(2026, 2, 9), 3, dice)
  const templates = new CountedCache()
  runOver(
    { world, rules, dice },
    { from: world.from, to: world.from + 2 * DAY },
    dataAt(world, world.to, -Infinity, dice),
    templates,
  )
  const { taken, most, inUse } = templates.columns
  t.true(taken > 1000, `${taken} columns are too few to tell`)
  t.true(most < taken / 5, `${most} of ${taken} columns were in memory at once`)
  t.is(inUse, 0)
})

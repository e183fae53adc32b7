import type { EnergyPrices } from '#shared/core/impact/impact.ts'
import type { PriceStore } from '#shared/core/stores.ts'
import type { Database } from '../sqlite.ts'
import { toRecord, toRow, upsert } from './row.ts'

const COLUMNS = ['building_id', 'currency', 'electricity', 'fuel'] as const

export function priceStore(db: Database): PriceStore {
  const get = db.prepare('SELECT currency, electricity, fuel FROM energy_prices WHERE building_id = ?')
  const put = db.prepare(upsert('energy_prices', ['building_id'], COLUMNS))
  return {
    get: building_id => {
      const row = get.get(building_id)
      return row === undefined ? undefined : toRecord<EnergyPrices>(row)
    },
    put: (building_id, prices) => void put.run(toRow({ building_id, ...prices }, COLUMNS)),
  }
}

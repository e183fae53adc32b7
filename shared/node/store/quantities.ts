import { Problem } from '#shared/core/problem.ts'
import { mayReview, type Quantity } from '#shared/core/model/quantity.ts'
import type { QuantityStore } from '#shared/core/stores.ts'
import type { Database } from '../sqlite.ts'

/**
 * @throws Problem conflict from `put` when the review status may not change in this way (`mayReview`); nothing is changed
 *   then
 */
export function quantityStore(db: Database): QuantityStore {
  const list = db.prepare('SELECT body FROM quantities WHERE building_id = ? ORDER BY quantity_id').pluck()
  const all = db.prepare('SELECT body FROM quantities ORDER BY quantity_id').pluck()
  const find = db.prepare('SELECT body FROM quantities WHERE quantity_id = ?').pluck()
  const insert = db.prepare(
    `INSERT INTO quantities VALUES (?, ?, ?)
     ON CONFLICT (quantity_id) DO UPDATE SET building_id = excluded.building_id, body = excluded.body`,
  )
  const get = (quantity_id: string) => {
    const body = find.get(quantity_id)
    return body === undefined ? undefined : toQuantity(body)
  }
  const put = (quantities: Quantity[]) => {
    for (const quantity of quantities) {
      const { quantity_id, building_id = null, review_status: to = 'NeedsReview' } = quantity
      const from = get(quantity_id)?.review_status ?? 'NeedsReview'
      if (!mayReview(from, to)) {
        throw new Problem('conflict', `quantity ${quantity_id} is ${from}: set it to NeedsReview before ${to}`)
      }
      insert.run(quantity_id, building_id, JSON.stringify({ ...quantity, review_status: to }))
    }
  }
  return {
    list: building_id => (building_id === undefined ? all.all() : list.all(building_id)).map(toQuantity),
    get,
    put: db.transaction(put),
  }
}

const toQuantity = (body: unknown): Quantity => JSON.parse(String(body))

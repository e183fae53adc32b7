/** Pricing of faults: when a run stores them, and again when somebody enters or reviews a quantity or price. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Finding } from '#shared/core/findings/finding.ts'
import { withImpact } from '#shared/core/impact/price.ts'
import { createEquipmentSizes } from '#shared/core/impact/equipment-sizes.ts'
import type { FindingStore, RunRecorder } from '#shared/core/ports.ts'
import type { EdgeStore, ModelStore, PriceStore, QuantityStore } from '#shared/core/stores.ts'
import { buildingsEvaluatedHere } from '#shared/central/fdd/rule-owner.ts'

export type Pricing = {
  /** Findings of a building with what they cost now. */
  price(building_id: string, findings: Finding[]): Finding[]
  /**
   * Prices the stored findings of one building or of all again. An appliance prices the findings that it sends itself.
   *
   * @returns how many findings have another cost now
   */
  reprice(building_id?: string): Promise<number>
}
type PricingStores = {
  model: ModelStore
  edges: EdgeStore
  quantities: QuantityStore
  prices: PriceStore
  findings: FindingStore
}

/** Findings that are priced in one batch; between batches the event loop is free for other work. */
const AT_ONCE = 500

/** @param onFindings is called with the findings whose cost changed, so that a hub shows what the appliance shows */
export function openPricing(stores: PricingStores, onFindings: (findings: Finding[]) => void): Pricing {
  const { model, edges, quantities, prices } = stores
  const price: Pricing['price'] = (building_id, findings) => {
    if (!findings.some(({ waste }) => waste)) return findings
    // A quantity without a building belongs to the only building of a site.
    const alone = model.buildings().length === 1
    const listed = quantities.list().filter(one => one.building_id === building_id || (alone && one.building_id === undefined))
    const sizes = createEquipmentSizes(listed, model.equipment(building_id))
    const costs = prices.get(building_id)
    return findings.map(finding => (finding.waste ? withImpact(finding, sizes, costs) : finding))
  }
  const repriceOne = async (building_id: string): Promise<number> => {
    let changed = 0
    let after: string | undefined
    do {
      const page = stores.findings.list({ building_id, limit: AT_ONCE, ...(after !== undefined && { after }) })
      const now = price(building_id, page)
      const others = now.filter((finding, i) => JSON.stringify(finding) !== JSON.stringify(page[i]))
      if (others.length > 0) {
        stores.findings.put(others)
        onFindings(others)
      }
      changed += others.length
      after = page.length === AT_ONCE ? page.at(-1)!.finding_id : undefined
      await nextTurn()
    } while (after !== undefined)
    return changed
  }
  return {
    price,
    async reprice(building_id) {
      const own = buildingsEvaluatedHere({ model, edges })
      let changed = 0
      for (const one of own.filter(id => building_id === undefined || id === building_id)) changed += await repriceOne(one)
      return changed
    },
  }
}

/** Stores the findings of a run with their costs. */
export const pricedRecorder = (recorder: RunRecorder, { price }: Pricing): RunRecorder => ({
  replace: (run, findings, ...more) => recorder.replace(run, price(run.building_id, findings), ...more),
})

import type { ModelStore } from '#shared/core/stores.ts'
import type { Received } from '#shared/core/telemetry/message.ts'

type Good = Extract<Received, { state: 'good' }>

/** Refuses readings of points that the building does not have: nothing on this machine says what their values mean. */
export class UnknownPointFilter {
  readonly #model: ModelStore
  /** Point ids by building. Points are never deleted from the model, so an id is looked up once. */
  readonly #known = new Map<string, Set<string>>()

  constructor(model: ModelStore) {
    this.#model = model
  }

  refuseReadings(message: Good, building_id: string): Good {
    const unknown = this.#unknownOf(building_id, new Set(message.readings.map(({ id }) => id)))
    const refused = [...unknown].map(point_id => ({
      pointer: `points[id=${point_id}]`,
      reason: `${point_id} is not a point of ${building_id}`,
    }))
    const readings = message.readings.filter(({ id }) => !unknown.has(id))
    return { ...message, readings, refused: [...message.refused, ...refused] }
  }

  #unknownOf(building_id: string, point_ids: Set<string>): Set<string> {
    const unknown = without(point_ids, this.#known.get(building_id))
    if (unknown.size === 0) return unknown
    const points = new Set(this.#model.points(building_id).map(({ point_id }) => point_id))
    this.#known.set(building_id, points)
    return without(point_ids, points)
  }
}

const without = (ids: Set<string>, excluded: Set<string> | undefined): Set<string> =>
  new Set([...ids].filter(id => !excluded?.has(id)))

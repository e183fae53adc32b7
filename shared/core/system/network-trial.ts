/** What becomes of network settings that the page asked for, as the system of the box writes it. */
import { type Static, Type } from '@sinclair/typebox'

/** `trying`: the box has started with them and waits for somebody who keeps them. `set_back`: nobody has, and those before count again. */
const STATES = ['trying', 'kept', 'set_back', 'refused'] as const
export const NetworkTrial = Type.Object({
  state: Type.Union(STATES.map(state => Type.Literal(state))),
  reason: Type.String(),
  at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:]{8}Z$' }),
})
export type NetworkTrial = Static<typeof NetworkTrial>

/** Bounds of what clients may hold: connections, bytes under way. */

/** Counts what clients hold by name, and refuses what is beyond the bound of one name or of all. */
export type Budget = {
  /** @returns whether there was room; nothing is taken else */
  take(name: string, amount: number): boolean
  give(name: string, amount: number): void
  /** Takes in any case. */
  add(name: string, amount: number): void
  hasRoom(name: string, amount: number): boolean
}

export function createBudget(perName: number, all: number): Budget {
  const held = new Map<string, number>()
  let total = 0
  const hasRoom = (name: string, amount: number) => (held.get(name) ?? 0) + amount <= perName && total + amount <= all
  const add = (name: string, amount: number) => {
    total += amount
    const next = (held.get(name) ?? 0) + amount
    if (next > 0) held.set(name, next)
    else held.delete(name)
  }
  return {
    hasRoom,
    add,
    take(name, amount) {
      if (!hasRoom(name, amount)) return false
      add(name, amount)
      return true
    },
    give: (name, amount) => add(name, -amount),
  }
}

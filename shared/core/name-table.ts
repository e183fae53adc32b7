/**
 * A table that is looked up by a name from outside, such as a role or a unit. It inherits nothing, so `valueOf` and
 * `constructor` are names that it does not have.
 */
export const nameTable = <T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.assign(Object.create(null), entries)

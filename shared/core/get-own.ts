/** Looks up a name that a person wrote: `valueOf` and `__proto__` are names like any other, and not there. */
export const getOwn = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

/** In `suppresses` and `relabels`: every rule that reads the role to which this rule is bound. */
export const READERS = 'readers'
/** In `suppresses`: every rule that reads this role of the rule's equipment. */
const READERS_OF = /^readers\(([a-z0-9_]+)\)$/

/** @returns the role of `readers(role)`; undefined for a pattern of rule ids and for `readers` */
export const roleOfReaders = (name: string): string | undefined => READERS_OF.exec(name)?.[1]

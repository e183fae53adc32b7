import type { Current } from '#shared/node/watched-files.ts'

/** A value that stays as it is. */
export const unchanging = <T>(value: T): Current<T> => ({ current: () => value, onChange: () => undefined })

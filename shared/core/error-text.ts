/** The text of a caught error for people. `catch` gives any value, and a library may throw one that is not an Error. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error))

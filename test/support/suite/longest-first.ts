/**
 * For `sortTestFiles` of a suite: tests that wait for minutes begin first, so that the others run meanwhile.
 *
 * @param names of their files, without `.test.ts`
 */
export function longestFirst(names: readonly string[]): (a: string, b: string) => number {
  const isLong = (file: string) => names.some(name => file.endsWith(`/${name}.test.ts`))
  return (a, b) => Number(isLong(b)) - Number(isLong(a)) || a.localeCompare(b)
}

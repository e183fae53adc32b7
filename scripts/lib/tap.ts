/** Reads the results of a suite in the Test Anything Protocol, as AVA writes it. */

export type Count = { passed: number; failed: number; skipped: number }
type TapResult = { outcome: keyof Count; title: string }

const RESULT = /^(not )?ok \d+(?: - (.*?))?( # SKIP)?$/

/** @returns undefined for a line that is not the result of a test */
export function readTapResult(line: string): TapResult | undefined {
  const match = RESULT.exec(line)
  if (!match) return undefined
  const [, isRed, title = '', isSkipped] = match
  return { outcome: isRed ? 'failed' : isSkipped ? 'skipped' : 'passed', title }
}

/** The last line of a run, which other programs read. */
export const closingLine = ({ passed, failed, skipped }: Count): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

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

/** A test that shows a row of the service specification, as `test/spec/rows.ts` titles it. */
const ROW = /(?:^| )row \d+ of (\d+): /

/** Rows of the specification that a run has shown, and how many there are. */
export class RowCount {
  private shown = 0
  private all = 0
  add({ outcome, title }: TapResult): void {
    const [, all] = ROW.exec(title) ?? []
    if (all === undefined) return
    this.all = Number(all)
    if (outcome === 'passed') this.shown++
  }
  /** @returns undefined where no row was tried */
  line = (): string | undefined => (this.all === 0 ? undefined : `specification: ${this.shown} of ${this.all} rows`)
}

/** The last line of a run, which other programs read. */
export const closingLine = ({ passed, failed, skipped }: Count): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

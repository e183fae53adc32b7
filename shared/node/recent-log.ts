/** The newest lines of a process's log, so that a page and a diagnostics file can show them. */

/** Lines that are retained: some hours of a healthy process, some minutes of one in trouble. */
const LINES_MAX = 1000
/** A line with a long stack is cut here, characters. */
const LINE_MAX = 4096

export class RecentLog {
  readonly #lines: string[] = []
  #total = 0

  /** @param line one JSON line, with or without its end */
  add(line: string): void {
    this.#lines.push(line.trimEnd().slice(0, LINE_MAX))
    this.#total++
    if (this.#lines.length > LINES_MAX) this.#lines.shift()
  }

  /** @returns the lines, oldest first, and how many have been written since the start */
  read(): { lines: string[]; total: number } {
    return { lines: [...this.#lines], total: this.#total }
  }
}

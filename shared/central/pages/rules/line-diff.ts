/** Lines that two texts do not have in common. */

type DiffLine = { sign: ' ' | '+' | '-' /** Of the text that has it, from 1. */; line: number; text: string }

/** Longest text whose lines are compared one by one; two of this length take 4 million steps. */
const LINES_MAX = 2000

/**
 * The longest common subsequence of lines stays; what is not in it was removed or added.
 *
 * @returns the lines of both texts in order; all of one and all of the other where they are too long
 */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  if (Math.max(a.length, b.length) > LINES_MAX) return [...marked(a, '-'), ...marked(b, '+')]
  const width = b.length + 1
  const common = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * width + j
      common[at] = a[i] === b[j] ? common[at + width + 1]! + 1 : Math.max(common[at + width]!, common[at + 1]!)
    }
  }
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) lines.push({ sign: ' ', line: ++j, text: a[i++]! })
    else if (j === b.length || (i < a.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
      lines.push({ sign: '-', line: i + 1, text: a[i++]! })
    else lines.push({ sign: '+', line: j + 1, text: b[j++]! })
  }
  return lines
}

const marked = (lines: string[], sign: '+' | '-'): DiffLine[] => lines.map((text, i) => ({ sign, line: i + 1, text }))

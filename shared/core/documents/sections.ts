/** Documents in Markdown as sections, one for each heading, so that a search finds a paragraph and not a whole file. */

/** Kind of document that a section is from; a search can be limited to some of them. */
export const DOCUMENT_TAGS = ['guide', 'api', 'format', 'decision', 'playbook', 'rule'] as const
export type DocumentTag = (typeof DOCUMENT_TAGS)[number]

export type Section = {
  /** `docs/playbooks.md#an-edge-is-silent`, as a link to it is written; `rules/ID` for a rule. */
  id: string
  path: string
  /** 1 for the title of a document. */
  level: number
  title: string
  /** Titles of the headings above it, outermost first. */
  chapters: string[]
  /** Without the heading, and without the sections below it. */
  text: string
}

const HEADING = /^(#{1,6})\s+(.+?)\s*#*\s*$/
const FENCE = /^\s*(`{3,}|~{3,})/

/**
 * Splits a document at its headings. Lines within a fenced block are no headings.
 *
 * @param path from the root of the program, with `/`
 * @returns sections in the order of the document; text before the first heading belongs to a section named by the path
 */
export function splitSections(path: string, markdown: string): Section[] {
  const sections: (Omit<Section, 'text'> & { lines: string[] })[] = []
  const above: { level: number; title: string }[] = []
  const slugs = new Map<string, number>()
  let fence: string | undefined
  for (const line of markdown.split(/\r?\n/)) {
    const [, marks = ''] = FENCE.exec(line) ?? []
    if (fence === undefined && marks) fence = marks
    else if (fence !== undefined && marks.startsWith(fence)) fence = undefined
    const [, hashes = '', title = ''] = fence === undefined && !marks ? (HEADING.exec(line) ?? []) : []
    if (hashes) {
      const level = hashes.length
      while (above.length > 0 && above.at(-1)!.level >= level) above.pop()
      const chapters = above.map(each => each.title)
      above.push({ level, title: plainText(title) })
      sections.push({ id: `${path}#${slugOf(title, slugs)}`, path, level, title: plainText(title), chapters, lines: [] })
    } else if (sections.length > 0) sections.at(-1)!.lines.push(line)
    else if (line.trim()) sections.push({ id: path, path, level: 1, title: path, chapters: [], lines: [line] })
  }
  return sections.map(({ lines, ...section }) => ({ ...section, text: lines.join('\n').trim() }))
}

/** A heading as it is read: without the marks of code, emphasis and links. */
const plainText = (heading: string): string => heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '')

/** The anchor of a heading as forges make it; a repeated one is numbered. */
function slugOf(heading: string, seen: Map<string, number>): string {
  const slug = plainText(heading)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
  const count = seen.get(slug) ?? 0
  seen.set(slug, count + 1)
  return count === 0 ? slug : `${slug}-${count}`
}

/** One task of an operator, with what to do in order. */
export type Playbook = { task_type: string; title: string; section_id: string; text: string; steps: string[] }

const TASK = /^Task: `([a-z_]{1,64})`$/m

/** @returns the playbook that a section is: one that names its task and has numbered steps; undefined for any other */
export function readPlaybook({ id, title, text }: Section): Playbook | undefined {
  const [, task_type] = TASK.exec(text) ?? []
  if (task_type === undefined) return undefined
  const steps: string[] = []
  for (const line of text.split('\n')) {
    const [, step] = /^\d+\.\s+(.*)$/.exec(line) ?? []
    if (step !== undefined) steps.push(step)
    else if (/^\s+\S/.test(line) && steps.length > 0) steps.push(`${steps.pop()} ${line.trim()}`)
  }
  return { task_type, title, section_id: id, text: text.replace(TASK, '').trim(), steps }
}

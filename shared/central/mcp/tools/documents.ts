/** Search of the product's own documents, as the retrieval service answers it. */
import { Type } from '@sinclair/typebox'
import { existsSync } from 'node:fs'
import type { Logger } from 'pino'
import { QUERY_MAX } from '#shared/core/documents/search-terms.ts'
import { DOCUMENT_TAGS } from '#shared/core/documents/sections.ts'
import { Problem } from '#shared/core/problem.ts'
import { openIndexFile, SHIPPED_INDEX } from '#shared/node/documents/index-file.ts'
import { oneOf, strict } from '#shared/node/http/route.ts'
import { CentralError } from '../central-client.ts'
import { cell, clip } from '../answer-text.ts'
import { type Tool, tool } from '../tool.ts'

const HITS_DEFAULT = 5
/** Hits with their excerpts that fit into one answer. */
const HITS_MAX = 20
/** Longest excerpt of a hit, characters. */
const EXCERPT_MAX = 600

/**
 * @param path the index; undefined for the one beside the program
 * @returns the tool, or none where there is no index that can be used; a named one that cannot be used is logged
 */
export function documentTools(path: string | undefined, log: Logger): Tool[] {
  if (path === undefined && !existsSync(SHIPPED_INDEX)) return []
  const index = openIndexFile(path ?? SHIPPED_INDEX, log)
  if (!index.find()) return []
  const searchDocs = tool({
    name: 'search_docs',
    title: 'Search the documents',
    effect: 'reads',
    description:
      'Sections of the documents, playbooks and rules of Plenum that fit a question: how something works, which setting or route does it, what to do. Each names its source.',
    input: strict({
      query: Type.String({ minLength: 1, maxLength: QUERY_MAX, description: 'words to look for' }),
      top_k: Type.Optional(
        Type.Integer({ minimum: 1, maximum: HITS_MAX, description: `sections, ${HITS_DEFAULT} unless told otherwise` }),
      ),
      tags: Type.Optional(
        Type.Array(oneOf(DOCUMENT_TAGS), { maxItems: DOCUMENT_TAGS.length, description: 'only documents of these kinds' }),
      ),
    }),
    async answer({ query, top_k = HITS_DEFAULT, tags }) {
      const hits = currentIndex().searchSections(query, top_k, tags)
      if (hits.length === 0) return 'Nothing fits. Try other words, or fewer.'
      const blocks = hits.map(({ source, title, chapters, excerpt }) => {
        return `${[...chapters, title].join(' > ')} (${source})\n${cell(excerpt, EXCERPT_MAX)}`
      })
      return clip(blocks.join('\n\n'))
    },
  })
  return [searchDocs]

  function currentIndex() {
    try {
      return index.current()
    } catch (error) {
      throw error instanceof Problem ? new CentralError(error.code, error.message) : error
    }
  }
}

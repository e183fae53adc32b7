/** Tools that read the index: search of documents, one section, routes of the API, and what an operator does for a task. */
import { Type } from '@sinclair/typebox'
import { QUERY_MAX } from '#shared/core/documents/search-terms.ts'
import { DOCUMENT_TAGS } from '#shared/core/documents/sections.ts'
import { Problem } from '#shared/core/problem.ts'
import type { IndexFile } from '#shared/node/documents/index-file.ts'
import { oneOf, strict } from '#shared/node/http/route.ts'
import { readTool, type RetrievalTool } from './routes.ts'

/** Most hits of one answer: 50 excerpts of 600 characters are 30 KiB. */
const TOP_MAX = 50
const TOP_DEFAULT = 8
/** Longest path or id: one of a file name and a heading. */
const ID_MAX = 400

const QUERY = Type.String({ minLength: 1, maxLength: QUERY_MAX, description: 'words of a person; nothing in it is syntax' })
const TOP_K = Type.Optional(
  Type.Integer({ minimum: 1, maximum: TOP_MAX, default: TOP_DEFAULT, description: 'most results, best first' }),
)
const TAGS = Type.Optional(
  Type.Array(oneOf(DOCUMENT_TAGS), { maxItems: DOCUMENT_TAGS.length, description: 'only documents of these kinds' }),
)

export const readTools = (index: IndexFile): RetrievalTool[] => [
  searchDocs(index),
  getSection(index),
  searchRoutes(index),
  getPlaybook(index),
]

const searchDocs = (index: IndexFile): RetrievalTool =>
  readTool({
    name: 'search_docs',
    summary: 'Sections of documents and rules for a query, with an excerpt of each',
    body: strict({ query: QUERY, top_k: TOP_K, tags: TAGS }),
    problems: ['index_unavailable'],
    answer: ({ body: { query, top_k = TOP_DEFAULT, tags } }) => ({
      query,
      results: index.current().searchSections(query, top_k, tags),
    }),
  })

const getSection = (index: IndexFile): RetrievalTool =>
  readTool({
    name: 'get_doc_section',
    summary: 'A section with those below it, or a whole document',
    body: strict({
      path_or_id: Type.String({
        minLength: 1,
        maxLength: ID_MAX,
        description: 'the source of a result, such as docs/playbooks.md#an-edge-is-silent, or the path of a document',
      }),
    }),
    problems: ['unknown_section', 'index_unavailable'],
    answer({ body: { path_or_id } }) {
      const section = index.current().readSection(path_or_id)
      if (!section) throw new Problem('unknown_section', 'No document and no section has this path or id; search_docs names them')
      return section
    },
  })

const searchRoutes = (index: IndexFile): RetrievalTool =>
  readTool({
    name: 'search_api_capabilities',
    summary: 'Routes of the API for a query, with role, input and the section that describes each',
    body: strict({ query: QUERY, top_k: TOP_K }),
    problems: ['index_unavailable'],
    answer: ({ body: { query, top_k = TOP_DEFAULT } }) => ({ query, results: index.current().searchRoutes(query, top_k) }),
  })

const getPlaybook = (index: IndexFile): RetrievalTool =>
  readTool({
    name: 'get_operator_playbook',
    summary: 'What an operator does for a task, step by step',
    body: strict({
      task_type: Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'such as edge_silent; an unknown one is answered with all',
      }),
    }),
    problems: ['unknown_task', 'index_unavailable'],
    answer({ body: { task_type } }) {
      const { findPlaybook, tasks } = index.current()
      const playbook = findPlaybook(task_type)
      if (!playbook) throw new Problem('unknown_task', `There is a playbook for each of: ${tasks.join(', ')}`)
      const { section_id: source, ...rest } = playbook
      return { source, ...rest }
    },
  })

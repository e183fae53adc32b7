/** The routes of the retrieval service. All of them are open: what they show is in every copy of the program. */
import type { Static, TObject } from '@sinclair/typebox'
import type { IndexFile } from '#shared/node/documents/index-file.ts'
import type { ProblemCode } from '#shared/core/problem.ts'
import { type Call, type Route, route } from '#shared/node/http/route.ts'

/** A tool of the manifest, answered at `POST /tools/<name>`. */
export type RetrievalTool = {
  name: string
  summary: string
  /** `write_guarded`: refused unless a setting allows it. */
  mode: 'read' | 'write_guarded'
  /** Schema of the body, as the manifest shows it. */
  input: TObject
  /** Left out where the tool refuses every call, whatever its body. */
  body?: TObject
  bodyMax?: number
  problems: readonly ProblemCode[]
  answer(call: Call<any, undefined, undefined>): object | Promise<object>
}

/** Creates a tool that reads; its answer has the type of its body. */
export const readTool = <S extends TObject>(
  value: Pick<RetrievalTool, 'name' | 'summary' | 'problems'> & {
    body: S
    answer: (call: Call<Static<S>, undefined, undefined>) => object
  },
): RetrievalTool => ({ ...value, mode: 'read', input: value.body })

export function retrievalRoutes({
  index,
  tools,
  version,
}: {
  index: IndexFile
  tools: readonly RetrievalTool[]
  version: string
}): Route[] {
  return [healthRoute(index), manifestRoute(tools, version), ...tools.map(toolRoute)]
}

const healthRoute = (index: IndexFile): Route =>
  route({
    method: 'GET',
    path: '/health',
    auth: 'public',
    summary: 'Whether there is an index, and of how many sections; 503 without one',
    handle: ({ reply }) => {
      const found = index.find()
      reply.code(found ? 200 : 503)
      return { ok: found !== undefined, index_exists: found !== undefined, sections: found?.sections ?? 0 }
    },
  })

const manifestRoute = (tools: readonly RetrievalTool[], version: string): Route =>
  route({
    method: 'GET',
    path: '/manifest',
    auth: 'public',
    summary: 'The tools with the schemas of their input',
    handle: () => ({
      ok: true,
      name: 'plenum-retrieval',
      version,
      tools: tools.map(({ name, summary, mode, input }) => {
        return { name, description: summary, route: pathOf(name), mode, input_schema: input }
      }),
    }),
  })

const pathOf = (name: string): string => `/tools/${name}`

const toolRoute = ({ name, summary, body, bodyMax, problems, answer }: RetrievalTool): Route =>
  route({
    method: 'POST',
    path: pathOf(name),
    auth: 'public',
    summary,
    problems,
    ...(body && { body }),
    ...(bodyMax !== undefined && { bodyMax }),
    handle: async call => ({ ok: true, ...(await answer(call)) }),
  })

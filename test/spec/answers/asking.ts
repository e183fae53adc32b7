/** Asks as an admin, and compares each answer with what the OpenAPI document of the same process states. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ExecutionContext } from 'ava'
import { PASSWORDS } from '../../support/sites/page-site.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })

/** Operations that were answered as stated, as `GET /api/edges/{edge_id}`. */
export type Asked = Set<string>
/** Sends a request that must succeed. @returns its answer */
export type Ask = (method: string, path: string, body?: object) => Promise<any>

/** A schema that takes no field which it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const within = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  return 'properties' in within && !('additionalProperties' in within) ? { ...within, additionalProperties: false } : within
}

/** An answer says more than that it succeeded, or exactly that. */
const isStated = ({ properties, additionalProperties }: { properties?: object; additionalProperties?: boolean }): boolean =>
  Object.keys(properties ?? {}).length > 1 || ('ok' in (properties ?? {}) && additionalProperties === false)

type Operation = { responses: Record<string, { content?: Record<string, { schema: object }> }> }
type Paths = Record<string, Record<string, Operation>>

type Document = { paths: Paths; components: { schemas: { Problem: object } } }

const jsonOf = ({ responses }: Operation) =>
  Object.entries(responses).flatMap(([status, { content }]) =>
    status !== 'default' && content?.['application/json'] ? [content['application/json'].schema] : [],
  )

/** Operations that answer with JSON, and those of them that do not state what it is. */
export function statedIn(paths: Paths): { json: string[]; unstated: string[] } {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      schemas: jsonOf(operation),
    })),
  )
  // The document is asked for by every test of it.
  const json = all.filter(({ name, schemas }) => schemas.length > 0 && name !== 'GET /api/openapi.json')
  return {
    json: json.map(({ name }) => name),
    unstated: json.filter(({ schemas }) => !schemas.every(isStated)).map(({ name }) => name),
  }
}

export async function openAsking(t: ExecutionContext, url: string, asked: Asked) {
  const send = async (method: string, path: string, body?: object, token?: string) => {
    const isForm = body instanceof FormData
    const headers = {
      ...(body && !isForm && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const sent = body && (isForm ? body : JSON.stringify(body))
    const answer = await fetch(url + path, { method, headers, ...(sent !== undefined && { body: sent }) })
    return { status: answer.status, text: await answer.text() }
  }
  const login = await send('POST', '/api/auth/login', { username: 'admin', password: PASSWORDS.admin })
  const { token } = JSON.parse(login.text) as { token: string }
  const { paths, components } = JSON.parse((await send('GET', '/api/openapi.json')).text) as Document
  /** The path as the document has it, with its parameters. */
  const documented = (path: string) => {
    const bare = path.split('?')[0]!
    const fits = (one: string) => new RegExp(`^${one.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(bare)
    return bare in paths ? bare : Object.keys(paths).find(fits)!
  }
  const askAs =
    (own: string): Ask =>
    async (method, path, body) => {
      const { status, text } = await send(method, path, body, own)
      t.is(Math.floor(status / 100), 2, `${method} ${path}: ${text}`)
      const name = `${method} ${documented(path)}`
      const stated = paths[documented(path)]![method.toLowerCase()]!.responses[status]
      t.truthy(stated, `${name} does not state the status ${status}`)
      const { schema } = stated!.content!['application/json']!
      t.true(isStated(schema), `${name} states more than ok`)
      const answer = JSON.parse(text)
      t.true(ajv.validate(closed(schema) as object, answer), `${name}: ${ajv.errorsText()} in ${text.slice(0, 2000)}`)
      asked.add(name)
      return answer
    }
  /** Sends a request that must be refused, and compares the problem with what is stated. @returns it */
  const beRefused = async (method: string, path: string, body?: object): Promise<any> => {
    const { status, text } = await send(method, path, body, token)
    t.true(status >= 400, `${method} ${path}: ${text}`)
    const { responses } = paths[documented(path)]![method.toLowerCase()]!
    const stated = responses[status] ?? responses['default']!
    t.deepEqual(stated.content!['application/problem+json'], { schema: { $ref: '#/components/schemas/Problem' } })
    const problem = JSON.parse(text)
    t.true(
      ajv.validate(closed(components.schemas.Problem) as object, problem),
      `${method} ${path}: ${ajv.errorsText()} in ${text.slice(0, 2000)}`,
    )
    return problem
  }
  return { send, beRefused, ask: askAs(token), askAs, paths, headers: { authorization: `Bearer ${token}` } }
}

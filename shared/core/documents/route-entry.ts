/** A route of the API as the index lists it, made from the OpenAPI document of a running process. */
import type { Section } from './sections.ts'

export type RouteEntry = {
  method: string
  /** Parameters in braces: `/api/edges/{edge_id}`. */
  path: string
  role: string
  summary: string
  /** Products that answer it, by comma. */
  products: string
  /** Parameters of path and query, and fields of the body, by comma; `?` marks what may be left out. */
  query: string
  body: string
  /** Id of the section that describes it. */
  source: string
}

type Operation = {
  summary?: string
  description?: string
  parameters?: { in: string; name: string; required?: boolean }[]
  requestBody?: { content?: Record<string, { schema?: { properties?: object; required?: string[] } }> }
}
type OpenApi = { paths: Record<string, Record<string, Operation>> }

/** Where a route is described that no document names. */
const DESCRIBED = '/api/openapi.json'
const ROLE = /^Needs the role (\w+)\.$/

/**
 * @param documents the OpenAPI document of each product, by its name
 * @param sections of the documents; a section that names a path in its text describes the route, a table of routes comes last
 * @returns routes by path and method; one that several products answer is listed once
 */
export function routeEntries(documents: Record<string, OpenApi>, sections: readonly Section[]): RouteEntry[] {
  const found = new Map<string, RouteEntry>()
  for (const [product, { paths }] of Object.entries(documents)) {
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        if (method === 'head') continue
        const key = `${path} ${method}`
        const known = found.get(key)
        const entry = known ?? entryOf(method.toUpperCase(), path, operation, sections)
        found.set(key, { ...entry, products: known ? `${known.products}, ${product}` : product })
      }
    }
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry)
}

function entryOf(method: string, path: string, operation: Operation, sections: readonly Section[]): RouteEntry {
  const { summary = '', description = '', parameters = [], requestBody } = operation
  const names = parameters.filter(one => one.in === 'query').map(({ name, required }) => (required ? name : `${name}?`))
  const { properties = {}, required = [] } = requestBody?.content?.['application/json']?.schema ?? {}
  const fields = Object.keys(properties).map(name => (required.includes(name) ? name : `${name}?`))
  const role = ROLE.exec(description)?.[1] ?? 'public'
  const source = describing(path, sections)
  return { method, path, role, summary, products: '', query: names.join(', '), body: fields.join(', '), source }
}

function describing(path: string, sections: readonly Section[]): string {
  const spellings = [path, path.replaceAll(/\{(\w+)\}/g, ':$1')]
  const naming = sections.filter(({ text }) => spellings.some(spelling => namesPath(text, spelling)))
  const isTable = ({ text }: Section) => text.includes('| method | path |')
  return (naming.find(section => !isTable(section)) ?? naming[0])?.id ?? DESCRIBED
}

/** Whether a text names this path and not a longer one. */
function namesPath(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    if (!/[\w/:{-]/.test(text[at + path.length] ?? '')) return true
  }
  return false
}

import fastifySwagger from '@fastify/swagger'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { html } from './html.ts'
import { PROBLEM_SCHEMA } from './problem-schema.ts'
import { type Route, route } from './route.ts'

/**
 * Routes of the OpenAPI document, which is generated from the schemas that validate requests, and of a short form of it as
 * a page without scripts.
 */
export async function documentRoutes(app: FastifyInstance, { routes, version }: { routes: Route[]; version: string }) {
  await app.register(fastifySwagger, {
    refResolver: { buildLocalReference: ({ $id }, _baseUri, _fragment, i) => String($id ?? `def-${i}`) },
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Plenum', version, description: 'Fault detection for buildings. Errors are application/problem+json.' },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
    },
  })
  app.addSchema(PROBLEM_SCHEMA)
  const documented = routes.filter(({ path }) => path.startsWith('/api/'))
  if (documented.length === 0) return []
  return [
    route({
      method: 'GET',
      path: '/api/openapi.json',
      auth: 'public',
      anyBuilding: true,
      summary: 'This API as an OpenAPI 3.1 document',
      reply: Type.Object({ openapi: Type.String(), paths: Type.Object({}) }),
      handle: () => app.swagger(),
    }),
    route({
      method: 'GET',
      path: '/api/docs',
      auth: 'public',
      anyBuilding: true,
      summary: 'This API as a page',
      answers: ['text/html'],
      handle: () => docsPage(documented, version),
    }),
  ]
}

const docsPage = (routes: Route[], version: string) => html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Plenum API</title></head>
<body>
<h1>Plenum API</h1>
<p>Version ${version}. Bodies and answers are JSON; errors are <code>application/problem+json</code>. The schemas are in
<a href="/api/openapi.json">the OpenAPI document</a>.</p>
<table>
<thead><tr><th>Method</th><th>Path</th><th>Role</th><th>What it does</th></tr></thead>
<tbody>${routes.map(
  ({ method, path, auth, summary }) =>
    html`<tr><td>${method}</td><td><code>${path}</code></td><td>${auth}</td><td>${summary}</td></tr>\n`,
)}</tbody>
</table>
</body>
</html>`

import test from 'ava'
import { routeEntries } from '#shared/core/documents/route-entry.ts'
import { splitSections } from '#shared/core/documents/sections.ts'

const SECTIONS = [
  ...splitSections(
    'hub/API.md',
    '# API\n\n| method | path |\n|---|---|\n| GET | `/api/edges/:edge_id` |\n| GET | `/api/edges` |',
  ),
  ...splitSections('hub/API.md', '## Edges\n\n`GET /api/edges/{edge_id}` answers one edge.'),
]
const GET_ONE = {
  summary: 'One edge',
  description: 'Needs the role viewer.',
  parameters: [
    { in: 'path', name: 'edge_id', required: true },
    { in: 'query', name: 'site_id', required: false },
    { in: 'query', name: 'kind', required: true },
  ],
}
const POST = {
  summary: 'Signs in',
  description: 'Public.',
  requestBody: {
    content: { 'application/json': { schema: { required: ['username'], properties: { username: {}, hint: {} } } } },
  },
}

test('a route names its role, its input and the section that describes it rather than the one that lists it', t => {
  const hub = {
    paths: { '/api/edges/{edge_id}': { get: GET_ONE, head: GET_ONE }, '/api/edges': { get: {} }, '/api/login': { post: POST } },
  }
  const appliance = { paths: { '/api/login': { post: POST } } }
  t.deepEqual(routeEntries({ hub, appliance }, SECTIONS), [
    {
      method: 'GET',
      path: '/api/edges',
      role: 'public',
      summary: '',
      products: 'hub',
      query: '',
      body: '',
      source: 'hub/API.md#api',
    },
    {
      method: 'GET',
      path: '/api/edges/{edge_id}',
      role: 'viewer',
      summary: 'One edge',
      products: 'hub',
      query: 'site_id?, kind',
      body: '',
      source: 'hub/API.md#edges',
    },
    {
      method: 'POST',
      path: '/api/login',
      role: 'public',
      summary: 'Signs in',
      products: 'hub, appliance',
      query: '',
      body: 'username, hint?',
      source: '/api/openapi.json',
    },
  ])
})

/** The script that makes the index, with the real hub and appliance that it asks for their routes. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { APPLIANCE_ENV } from '#appliance/env.ts'
import { HUB_ENV } from '#hub/env.ts'
import { readRoutes, readSections } from '#scripts/lib/document-sources.ts'
import { readIndex } from '#shared/node/documents/document-index.ts'
import { writeIndex } from '#shared/node/documents/write-index.ts'
import { temporaryFolder } from '../support/sites/workspace.ts'

const run = (...args: string[]) => spawnSync('scripts/index-documents', args, { encoding: 'utf8' })

test('the index has every document, rule and route, each route with a section, and is the same when made again', async t => {
  const path = join(temporaryFolder(t), 'documents.db')
  const { status, stdout, stderr } = run(path)
  t.is(status, 0, stderr)
  t.regex(stdout, /\d{3} sections, \d{3} routes, \d+ bytes/)
  const bytes = readFileSync(path)
  const sections = readSections()
  const routes = await readRoutes(sections)
  t.true(writeIndex({ sections, routes }).equals(bytes))

  const products = new Map(routes.map(entry => [`${entry.method} ${entry.path}`, entry.products]))
  t.is(products.get('POST /api/fdd/run'), 'hub, appliance')
  t.is(products.get('GET /api/edges'), 'hub')
  t.is(products.get('POST /api/bacnet/discover'), 'appliance')
  const index = readIndex(bytes)
  for (const { path: route, source } of routes) {
    t.true(source === '/api/openapi.json' || index.readSection(source) !== undefined, `${route}: ${source}`)
  }
  t.true(routes.filter(({ source }) => source === '/api/openapi.json').length <= 2, 'nearly every route is described')
})

test('every playbook has a task, steps, and routes and settings that exist', t => {
  const sections = readSections()
  const tagged = sections.filter(({ tag, level }) => tag === 'playbook' && level === 2)
  const { tasks, findPlaybook } = readIndex(writeIndex({ sections, routes: [] }))
  t.is(tasks.length, tagged.length)
  for (const task of tasks) {
    const { steps, text } = findPlaybook(task)!
    t.true(steps.length >= 4 && steps.length <= 8, task)
    for (const [, method, path] of text.matchAll(/`(GET|POST|PUT) (\/api\/[\w/{}-]+)`/g)) {
      const row = `| ${method} | \`${path!.replaceAll(/\{(\w+)\}/g, ':$1')}\` |`
      t.true(
        sections.some(({ text: api }) => api.includes(row)),
        row,
      )
    }
    for (const [name] of text.matchAll(/\bSERVICE_[A-Z_]+\b/g)) t.true(name in APPLIANCE_ENV || name in HUB_ENV, name)
  }
})

test('what the script does not understand it refuses', t => {
  t.is(run('--unknown').status, 64)
  t.is(run('a', 'b').status, 64)
  t.is(run('--help').status, 0)
})

/** What the index of documents is made from: documents and rules of the tree, and the routes that the products answer. */
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type RouteEntry, routeEntries } from '#shared/core/documents/route-entry.ts'
import { type DocumentTag, splitSections } from '#shared/core/documents/sections.ts'
import type { WrittenRule } from '#shared/core/rules/check/rule.ts'
import { explainRule } from '#shared/core/rules/report/explain.ts'
import type { TaggedSection } from '#shared/node/documents/write-index.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { freePort } from './free-port.ts'
import { waitForHealth } from '../lib-start/hub-client.ts'
import { startPart } from '../lib-start/process.ts'
import { configure, layout } from '../lib-start/provision.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Folders of the product with documents, besides the root. */
const FOLDERS = ['appliance', 'docs', 'hub', 'provisioning', 'shared']
/** The first that fits counts. */
const TAGS: [RegExp, DocumentTag][] = [
  [/(^|\/)API\.md$/, 'api'],
  [/\/(FORMAT|TOPICS|LANGUAGE)\.md$/, 'format'],
  [/^docs\/decisions\.md$/, 'decision'],
  [/^docs\/playbooks\.md$/, 'playbook'],
]

/** What is listed by version answers no question of today. */
const LEFT_OUT = 'CHANGELOG.md'

/** @returns the sections of every document, and one for each shipped rule. @throws Error for a rule file that does not check */
export function readSections(): TaggedSection[] {
  const top = readdirSync(ROOT).filter(name => name.endsWith('.md'))
  const below = FOLDERS.flatMap(folder =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).flatMap(name =>
      name.endsWith('.md') ? join(folder, name).replaceAll('\\', '/') : [],
    ),
  )
  const documents = [...top, ...below].filter(path => path !== LEFT_OUT).toSorted()
  const { rules, errors } = loadRules([join(ROOT, 'rules')])
  if (errors.length > 0) throw new Error(`rules cannot be read: ${errors.map(({ filename }) => filename).join(', ')}`)
  return [...documents.flatMap(sectionsOf), ...rules.map(ruleSection)]
}

function sectionsOf(path: string): TaggedSection[] {
  const tag = TAGS.find(([pattern]) => pattern.test(path))?.[1] ?? 'guide'
  return splitSections(path, readFileSync(join(ROOT, path), 'utf8')).map(section => ({ ...section, tag }))
}

function ruleSection(rule: WrittenRule): TaggedSection {
  const { id, title, filename } = rule
  const text = explainRule(rule).slice(1).join('\n')
  return {
    id: `rules/${id}`,
    path: relative(ROOT, filename),
    level: 1,
    title: `${id}: ${title}`,
    chapters: ['Rules'],
    text,
    tag: 'rule',
  }
}

/** Longest start of a product on a busy machine, ms. */
const START_MS = 60_000

/**
 * Asks a hub and an appliance for their OpenAPI documents. Both are started for it on loopback, in a temporary folder,
 * without a broker, and stopped again.
 *
 * @throws Error with the end of the log of a product that does not start
 */
export async function readRoutes(sections: readonly TaggedSection[]): Promise<RouteEntry[]> {
  const folder = await mkdtemp(join(tmpdir(), 'plenum-index-'))
  try {
    const at = layout(folder)
    await configure(at, await freePort())
    const hub = await openApiOf('hub', 'hub/central/main.ts', { SERVICE_WORKSPACE: at.hub }, folder)
    const env = {
      SERVICE_WORKSPACE: at.appliance,
      SERVICE_EDGE_STORE_DIR: at.edgeStore,
      SERVICE_BACNET_BIND: '127.0.0.1',
      SERVICE_BACNET_PORT: '0',
    }
    const appliance = await openApiOf('appliance', 'appliance/main.ts', env, folder)
    return routeEntries({ hub, appliance }, sections)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function openApiOf(product: string, main: string, env: Record<string, string>, folder: string) {
  const port = await freePort()
  const common = {
    SERVICE_CENTRAL_BIND: '127.0.0.1',
    SERVICE_CENTRAL_PORT: String(port),
    SERVICE_DEV_OPEN: '1',
    SERVICE_MQTT_ENABLED: '0',
  }
  const part = startPart(product, main, { ...common, ...env }, join(folder, `${product}.log`))
  try {
    const base = `http://127.0.0.1:${port}`
    if (!(await waitForHealth(base, START_MS, part.hasEnded))) {
      throw new Error(`${product} does not start: ${part.lastWords().join('; ')}`)
    }
    const answer = await fetch(`${base}/api/openapi.json`)
    return (await answer.json()) as Parameters<typeof routeEntries>[0][string]
  } finally {
    await part.stop()
  }
}

/** `.` and `..` name folders, so they are no ids: not in a body, a topic, a certificate, a package, a setting or an address. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import test from 'ava'
import { commonName, parseIdentity } from '#shared/core/auth/identity.ts'
import { readManifest } from '#shared/core/csv/package-json.ts'
import { readEnv } from '#shared/core/env.ts'
import { EQUIPMENT_TYPES, ID, isId } from '#shared/core/model/model.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import { readFindings, writeFindings } from '#shared/core/telemetry/findings.ts'
import { readMetadata, writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { readTelemetry, writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { parseTopic } from '#shared/core/topic/topics.ts'
import { RULE_FILENAME } from '#shared/flow/fdd/publish-rules.ts'
import { SPLIT_EDGE_VARIABLES } from '#appliance/env.ts'
import { envelope, finding, NOON } from '../../support/messages.ts'
import { edgeModel } from '../../support/sites/transport-site.ts'

const DOTS = ['.', '..']
/** Dots are fine beside anything else, and more than two of them name no folder. */
const FINE = ['...', '.a', 'a.', '..a', '-', '_', 'AHU-1.sat']

const root = fileURLToPath(new URL('../../..', import.meta.url))
const { building, equipment, points, ...about } = edgeModel('A')
const metadata = (change: object) =>
  readMetadata({ ...writeMetadata('A', 'e1', { ...about, building, equipment, points }), ...change }).ok
const reading = { id: 'p1', t: NOON, v: 1, q: 'good' as const }
const telemetry = (change: object, point: object = {}) => {
  const body = writeTelemetry({ ...envelope(), protocol: 'bacnet', time_synced: true, readings: [{ ...reading, ...point }] })
  const read = readTelemetry({ ...body, ...change })
  return read.ok && read.value.refused.length === 0
}
const findings = (change: object, more: object = {}) =>
  readFindings({ ...writeFindings({ ...envelope(), findings: [{ ...finding, ...change }] }), ...more }).ok
const rule = (id: string) => {
  const text = readFileSync(join(root, 'rules', firstRule()), 'utf8')
  return parseRule(text.replace(/^id: .*$/m, `id: ${JSON.stringify(id)}`), 'rule.yaml').ok
}
const firstRule = () =>
  readdirSync(join(root, 'rules'), { recursive: true, encoding: 'utf8' }).find(name => /\.ya?ml$/.test(name))!
const setting = (name: 'SERVICE_SITE_ID' | 'SERVICE_EDGE_ID') => (id: string) =>
  readEnv({ [name]: SPLIT_EDGE_VARIABLES[name] }, { env: { [name]: id } }, () => '').ok
const packaged = (id: string) => readManifest({ schema_version: 'svc_package_v1', building_id: id, grid_minutes: 5 }).ok
const schema = new Ajv().compile(ID)

/** Every reader of an id that comes from outside; each says whether it takes it. */
const READERS: Record<string, (id: string) => boolean> = {
  'the schema of routes': id => schema(id),
  'a site in a topic': id => parseTopic(`sites/${id}/edges/e1/status`) !== undefined,
  'an edge in a topic': id => parseTopic(`sites/A/edges/${id}/status`) !== undefined,
  'a site in a certificate': id => parseIdentity(commonName({ kind: 'edge', site_id: id, edge_id: 'e1' })) !== undefined,
  'an edge in a certificate': id => parseIdentity(commonName({ kind: 'edge', site_id: 'A', edge_id: id })) !== undefined,
  'the site of a central': id => parseIdentity(commonName({ kind: 'central', site_id: id })) !== undefined,
  'the site of a message': site_id => telemetry({ site_id }),
  'the edge of a message': edge_id => telemetry({ edge_id }),
  'the building of a message': building_id => telemetry({ building_id }),
  'the point of a reading': id => telemetry({}, { id }),
  'the building of an edge': building_id => metadata({ building: { ...building, building_id } }),
  'the equipment of an edge': equipment_id =>
    metadata({ points: [], equipment: [{ equipment_id, name: 'x', equipment_type: EQUIPMENT_TYPES[0] }] }),
  'a point of an edge': point_id => metadata({ points: [{ ...points[0], point_id }] }),
  'a finding': finding_id => findings({ finding_id }),
  'the rule of a finding': rule_id => findings({ rule_id }),
  'a finding that is withdrawn': id => findings({}, { withdrawn: [id] }),
  'the building of a package': packaged,
  'a rule': rule,
  SERVICE_SITE_ID: setting('SERVICE_SITE_ID'),
  SERVICE_EDGE_ID: setting('SERVICE_EDGE_ID'),
}
for (const [what, takes] of Object.entries(READERS)) {
  test(`. and .. are no id for ${what}`, t => {
    t.deepEqual(DOTS.filter(takes), [])
    t.deepEqual(
      FINE.filter(id => !takes(id)),
      [],
    )
  })
}

test('a rule file has no name that hides it or leaves its folder', t => {
  const fits = new RegExp(RULE_FILENAME)
  for (const name of ['.', '..', '.yaml', '..yaml', '../x.yaml', 'a/b.yaml', 'x']) t.false(fits.test(name), name)
  for (const name of ['a.yaml', 'a..b.yml']) t.true(fits.test(name), name)
})

test('an id is at most 128 letters, and nothing that a path, a topic or a header could read otherwise', t => {
  t.true(isId('x'.repeat(128)))
  for (const id of ['', 'x'.repeat(129), 'a/b', 'a b', 'a+', '#', 'a\n', '\n', '.\n', 'é', 'a\0', 7, null]) t.false(isId(id))
})

test('there is one form of an id: no other file writes it down', t => {
  const sources = ['shared', 'appliance', 'hub', 'provisioning'].flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts'))
      .map(name => join(folder, name)),
  )
  const others = sources.filter(name => readFileSync(join(root, name), 'utf8').includes('[A-Za-z0-9._-]{1,128}$'))
  t.deepEqual(others, [join('shared', 'core', 'model', 'model.ts')])
})

import test from 'ava'
import { readConnectorUrl } from '#shared/core/connector-url.ts'
import { readMetadata, writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { EdgeRegistry } from '#shared/flow/ingest/edge-registry.ts'
import { wallClock } from '#shared/node/clock.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { edgeClaimStore } from '#shared/node/store/edge-claims.ts'
import { edgeStore } from '#shared/node/store/edges.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { edgeModel } from '../../support/sites/transport-site.ts'

test('an address of an edge is an HTTPS URL of host, optional port and optional path', t => {
  const table: [string, string | RegExp][] = [
    ['https://box.example', 'https://box.example/'],
    ['https://10.0.0.5:8443', 'https://10.0.0.5:8443/'],
    ['https://[fd00::5]:8443/', 'https://[fd00::5]:8443/'],
    ['https://proxy.example/plant-7', 'https://proxy.example/plant-7/'],
    ['HTTPS://Box.Example', 'https://box.example/'],
    ['http://box.example', /must begin with https/],
    ['file:///etc/passwd', /must begin with https/],
    ['box.example', /is not a URL/],
    ['https://', /is not a URL/],
    ['https://me@box.example', /user name or password/],
    ['https://me:pw@box.example', /user name or password/],
    ['https://box.example/?to=1', /query or fragment/],
    ['https://box.example/#top', /query or fragment/],
    [`https://box.example/${'x'.repeat(1024)}`, /more than 1024 characters/],
  ]
  for (const [text, wanted] of table) {
    const read = readConnectorUrl(text)
    if (typeof wanted === 'string') t.deepEqual(read, { ok: true, url: wanted })
    else t.regex(read.ok ? read.url : read.reason, wanted, text)
  }
})

test('metadata may set the address; metadata without one keeps that of an operator', t => {
  const db = openDatabase(':memory:')
  t.teardown(() => void db.close())
  const edges = edgeStore(db)
  const registry = new EdgeRegistry({ edges, model: modelStore(db), claims: edgeClaimStore(db), clock: wallClock })
  const topic = { site_id: 'A', edge_id: 'e1', kind: 'metadata' } as const
  const enter = (change: object) => {
    const metadata = readMetadata(JSON.parse(JSON.stringify(writeMetadata('A', 'e1', { ...edgeModel('A'), ...change }))))
    if (!metadata.ok) return metadata.reason
    return registry.applyMetadata(topic, metadata.value) ?? edges.get('A', 'e1')!.connector_url ?? null
  }
  t.is(enter({}), null)
  edges.put({ ...edges.get('A', 'e1')!, connector_url: 'https://set.example/' })
  t.is(enter({ version: '2' }), 'https://set.example/')
  t.is(enter({ connector_url: 'https://own.example:8443' }), 'https://own.example:8443/')
  t.regex(String(enter({ connector_url: 'http://own.example' })), /connector_url must be .* must begin with https/)
  t.is(edges.get('A', 'e1')!.connector_url, 'https://own.example:8443/')
})

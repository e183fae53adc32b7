/** Which handler a box is proposed to hang on, by folders, names and there being only one. */
import test from 'ava'
import { proposeByNames } from '#shared/core/csv/links/link-names.ts'

/** @returns box → `handler confidence` */
function proposed(boxes: string[], handlers: string[], more: Record<string, { folder?: string; headers?: string[] }> = {}) {
  const names = new Map(
    [...boxes, ...handlers].map(id => [id, { equipment_id: id, texts: [id], folder: id, headers: [], ...more[id] }]),
  )
  const types = { equipment_type: 'vav', served_by: 'ahu' } as const
  const found = proposeByNames([{ ...types, equipment_ids: boxes, server_ids: handlers, rule_ids: ['R'] }], names)
  return Object.fromEntries(found.map(one => [one.equipment_id, `${one.parent_id} ${one.confidence}`]))
}

for (const [what, boxes, handlers, expected, more] of [
  [
    'names that hold the handler',
    ['AHU1_VAV3', 'VAV-AHU-02-7'],
    ['AHU-1', 'AHU-2'],
    { AHU1_VAV3: 'AHU-1 0.95', 'VAV-AHU-02-7': 'AHU-2 0.95' },
  ],
  [
    'leading numbers of all boxes',
    ['VAV-1-03', 'VAV-2-03'],
    ['AHU-1', 'AHU-2'],
    { 'VAV-1-03': 'AHU-1 0.85', 'VAV-2-03': 'AHU-2 0.85' },
  ],
  [
    'leading numbers of some boxes, which may be floors',
    ['VAV-1-03', 'VAV-3-03'],
    ['AHU-1', 'AHU-2'],
    { 'VAV-1-03': 'AHU-1 0.6' },
  ],
  [
    'leading words',
    ['VAV-East-1', 'VAV-West-1'],
    ['AHU East', 'AHU West'],
    { 'VAV-East-1': 'AHU East 0.85', 'VAV-West-1': 'AHU West 0.85' },
  ],
  ['hundreds', ['VAV-103', 'VAV-204'], ['AHU-1', 'AHU-2'], { 'VAV-103': 'AHU-1 0.5', 'VAV-204': 'AHU-2 0.5' }],
  ['names that say nothing', ['VAV-7', 'Library'], ['AHU-1', 'AHU-2'], {}],
  ['a number that goes on', ['AHU12_VAV3'], ['AHU-1', 'AHU-2'], {}],
  ['the only handler', ['VAV-7'], ['AHU-1'], { 'VAV-7': 'AHU-1 0.9' }],
  [
    'the only handler, and a name of another',
    ['VAV-2-07', 'VAV-1-07'],
    ['AHU-1'],
    { 'VAV-2-07': 'AHU-1 0.5', 'VAV-1-07': 'AHU-1 0.9' },
  ],
  ['a name that holds two handlers', ['AHU1-AHU2-VAV'], ['AHU-1', 'AHU-2'], {}],
  [
    'a folder below the handler',
    ['North'],
    ['H1', 'H2'],
    { North: 'H1 0.95' },
    { North: { folder: 'site/H1/North' }, H1: { folder: 'site/H1' } },
  ],
  [
    'a folder named after the handler',
    ['North'],
    ['AHU-1', 'AHU-2'],
    { North: 'AHU-1 0.95' },
    { North: { folder: 'AHU1/VAV-1-03' } },
  ],
  [
    'headers that name the handler',
    ['North'],
    ['AHU-1', 'AHU-2'],
    { North: 'AHU-2 0.85' },
    { North: { headers: ['AHU2.North.Flow', 'AHU2.North.Temp'] } },
  ],
] as [string, string[], string[], object, Record<string, { folder?: string; headers?: string[] }>?][]) {
  test(`${what} give the proposals that they support`, t => {
    t.deepEqual(proposed(boxes, handlers, more), expected)
  })
}

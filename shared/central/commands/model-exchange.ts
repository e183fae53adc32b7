/** Writes the model of a building in a format of other programs, and saves what was written in one of them. */
import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import type { TSchema } from '@sinclair/typebox'
import { sniffDialect } from '#shared/core/csv/form/dialect.ts'
import { errorText } from '#shared/core/error-text.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import { fromTriples, toTriples } from '#shared/core/model/exchange/brick-model.ts'
import { readModelRows, writeModelCsv } from '#shared/core/model/exchange/csv-model.ts'
import { readModelHaystack, writeModelHaystack } from '#shared/core/model/exchange/haystack-model.ts'
import {
  type BuildingModel,
  fromRecords,
  type ModelRecord,
  type RecordKind,
  toRecords,
  type Unchecked,
} from '#shared/core/model/exchange/records.ts'
import { roleCollisions } from '#shared/flow/assign-points.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import { readTurtle, writeTurtle } from '#shared/node/model/turtle.ts'
import { schemaErrors } from '#shared/node/http/schema-check.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { type CsvRecord, TOLERANT_CSV } from '#shared/central/import/split-records.ts'
import type { Actor } from './command.ts'
import {
  BUILDING_BODY,
  EQUIPMENT_BODY,
  linkErrors,
  measuredAs,
  POINT_BODY,
  pointErrors,
  withUnitCode,
  zoneErrors,
} from './model.ts'

export const MODEL_FORMATS = ['csv', 'haystack', 'brick'] as const
export type ModelFormat = (typeof MODEL_FORMATS)[number]
/** Longest text of a model, characters: some 50,000 points. */
export const MODEL_TEXT_MAX = 16 * 1024 * 1024

type ModelContext = Pick<CentralContext, 'model' | 'site_id'>

/** @throws Problem unknown_building */
export function recordsOf({ model }: Pick<CentralContext, 'model'>, building_id: string): ModelRecord[] {
  const building = needBuilding(model, building_id)
  return toRecords({ building, equipment: model.equipment(building_id), points: model.points(building_id) })
}

const WRITERS: Record<ModelFormat, (records: ModelRecord[]) => string> = {
  csv: writeModelCsv,
  haystack: writeModelHaystack,
  brick: records => writeTurtle(toTriples(records)),
}
/** @throws Problem unknown_building */
export const exportModel = (context: Pick<CentralContext, 'model'>, building_id: string, format: ModelFormat): string =>
  WRITERS[format](recordsOf(context, building_id))

type ReadModel = { records: ModelRecord[]; errors: DataError[] }
const READERS: Record<ModelFormat, (text: string) => ReadModel> = {
  csv: text => readModelRows(readRows(text)),
  haystack: readModelHaystack,
  brick: text => fromTriples(readTurtle(text)),
}

/** What an import does, or did: records by kind. */
type Changes = Record<'added' | 'changed' | 'unchanged', Record<RecordKind, number>>

type ModelText = { building_id: string; format: ModelFormat; text: string }

/**
 * Adds and changes what the text says of a building, all of it or nothing. What the text does not name stays as it is.
 *
 * @param dryRun checks and counts only: nothing is stored or audited
 * @throws Problem invalid that names each row or node that is wrong, and its field
 */
export function importModel(context: ModelContext, { audit }: Pick<Actor, 'audit'>, given: ModelText, dryRun = false): Changes {
  const { building_id, format } = given
  const { building, equipment, points, before, after } = checkModel(context, given)
  const changes = changesOf(before, after, equipment.length)
  if (dryRun) return changes
  context.model.put({ ...(building && { building }), equipment, points })
  audit({ subject: building_id, building_id, after: { format, ...changes } })
  return changes
}

/** A record that an import would add or change, and the fields that would differ. */
export type RecordDifference = {
  record: RecordKind
  name: string
  isNew: boolean
  fields: { field: string; before: unknown; after: unknown }[]
}

/** What an import would add and change, record by record. @throws Problem as `importModel` */
export function compareModel(context: ModelContext, given: ModelText): RecordDifference[] {
  const { equipment, before, after } = checkModel(context, given)
  return after.flatMap((now, i): RecordDifference[] => {
    const was = before[i] as Fields | undefined
    if (now === undefined) return []
    const fields = differingFields(was ?? {}, now as Fields)
    return fields.length === 0 ? [] : [{ record: kindAt(i, equipment.length), name: now.name, isNew: was === undefined, fields }]
  })
}

type Fields = Record<string, unknown>

const differingFields = (was: Fields, now: Fields): RecordDifference['fields'] =>
  Object.keys({ ...was, ...now }).flatMap(field =>
    isSame([was[field] ?? null], [now[field] ?? null]) ? [] : [{ field, before: was[field], after: now[field] }],
  )

/** Reads and checks a text. `before` and `after` hold the building, then equipment, then points. @throws Problem as `importModel` */
function checkModel({ model, site_id }: ModelContext, { building_id, format, text }: ModelText) {
  const { records, errors } = readText(text, format)
  refuse(errors)
  const unchecked = fromRecords(records, building_id)
  refuse([...unchecked.flatMap(formErrors), ...repeated(unchecked), ...foreignBuilding(unchecked, building_id)])
  const of = <T>(kind: RecordKind) => unchecked.filter(({ record }) => record === kind).map(({ value }) => value as T)
  const known = {
    building: model.building(building_id),
    equipment: new Map(model.equipment(building_id).map(one => [one.equipment_id, one])),
    points: new Map(model.points(building_id).map(one => [one.point_id, one])),
  }
  const [given] = of<Building>('building')
  const building = given && { ...known.building, ...given, site_id: given.site_id ?? known.building?.site_id ?? site_id }
  if (!building && !known.building) refuse([{ message: 'the text has no record of the building, and there is none here' }])
  const equipment = of<Equipment>('equipment')
  const points = of<Point>('point').map(one => atHome(withUnitCode(one), known.points.get(one.point_id)))
  refuse(
    meaningErrors(
      unchecked,
      { ...(building && { building }), equipment, points },
      { equipment: [...known.equipment.values()], points: [...known.points.values()] },
    ),
  )
  const before = [
    known.building,
    ...equipment.map(one => known.equipment.get(one.equipment_id)),
    ...points.map(one => known.points.get(one.point_id)),
  ]
  const after = [building ?? known.building, ...equipment, ...points]
  return { building, equipment, points, before, after }
}

/** Nothing of this process's own knowledge of a point is lost by an import. */
function atHome(point: Point, known: Point | undefined): Point {
  const { untrusted, bacnet, address } = known?.source ?? {}
  const place = bacnet && address === point.source.address && { bacnet }
  return measuredAs({ ...point, source: { ...point.source, ...place, ...(untrusted && { untrusted }) } }, known)
}

function readText(text: string, format: ModelFormat): ReadModel {
  try {
    return READERS[format](text)
  } catch (error) {
    const row = error instanceof CsvError && typeof error['lines'] === 'number' ? { row: error['lines'] } : {}
    throw new Problem('invalid', `The text is no ${format}: ${errorText(error)}`, [{ ...row, message: errorText(error) }])
  }
}

const readRows = (text: string): CsvRecord[] =>
  parse(text, { ...TOLERANT_CSV, delimiter: sniffDialect(text).delimiter }) as unknown as CsvRecord[]

const SCHEMAS: Record<RecordKind, TSchema> = { building: BUILDING_BODY, equipment: EQUIPMENT_BODY, point: POINT_BODY }
const formErrors = ({ record, id, row, value }: Unchecked): DataError[] =>
  schemaErrors(SCHEMAS[record], value).map(({ pointer = '', message }) => ({
    ...placeOf({ record, id, row }, pointer),
    message: `${record} ${id}: ${pointer.split('/').at(-1)} ${message}`,
  }))

const placeOf = ({ record, id, row }: Pick<Unchecked, 'record' | 'id' | 'row'>, pointer: string): DataError => ({
  pointer: `/${record}/${id}${pointer}`,
  ...(row !== undefined && { row, column: pointer.split('/').at(-1) ?? '' }),
  message: '',
})

function repeated(unchecked: Unchecked[]): DataError[] {
  const byId = Map.groupBy(unchecked, ({ record, id }) => `${record} ${id}`)
  return [...byId]
    .filter(([, all]) => all.length > 1)
    .map(([name, [, second]]) => ({ ...placeOf(second!, ''), message: `${name} is there twice` }))
}

const foreignBuilding = (unchecked: Unchecked[], building_id: string): DataError[] =>
  unchecked
    .filter(({ record, id }) => record === 'building' && id !== building_id)
    .map(one => ({ ...placeOf(one, ''), message: `the text is of building ${one.id}, not ${building_id}` }))

/** What schemas cannot see: zones, links, roles and units. */
function meaningErrors(
  unchecked: Unchecked[],
  { building, equipment, points }: Partial<BuildingModel> & Pick<BuildingModel, 'equipment' | 'points'>,
  known: Pick<BuildingModel, 'equipment' | 'points'>,
) {
  const there = new Set([...known.equipment, ...equipment].map(one => one.equipment_id))
  const lost = ({ point_id, equipment_id }: Point): DataError[] =>
    equipment_id === undefined || there.has(equipment_id)
      ? []
      : [{ pointer: `/point/${point_id}/equipment_id`, message: `there is no equipment ${equipment_id}` }]
  const errors = [
    ...(building ? zoneErrors(building.timezone, `/building/${building.building_id}`) : []),
    ...equipment.flatMap(one =>
      linkErrors(one, `/equipment/${one.equipment_id}`, equipment, { equipment: () => known.equipment }),
    ),
    ...points.flatMap(one => [...pointErrors(one, `/point/${one.point_id}`), ...lost(one)]),
    ...roleCollisions(points, known.points, i => `/point/${points[i]!.point_id}`),
  ]
  const rows = new Map(unchecked.map(({ record, id, row }) => [`/${record}/${id}`, row]))
  return errors.map(error => {
    const [, node = '', column = ''] = /^(\/\w+\/[^/]+)\/(\w+)$/.exec(error.pointer ?? '') ?? []
    const row = rows.get(node)
    return row === undefined ? error : { ...error, row, column }
  })
}

function changesOf(before: unknown[], after: unknown[], equipment: number): Changes {
  const none = () => ({ building: 0, equipment: 0, point: 0 })
  const changes: Changes = { added: none(), changed: none(), unchanged: none() }
  for (const [i, now] of after.entries()) {
    const kind = kindAt(i, equipment)
    const was = before[i]
    changes[was === undefined ? 'added' : isSame(was, now) ? 'unchanged' : 'changed'][kind]++
  }
  return changes
}
const kindAt = (i: number, equipment: number): RecordKind => (i === 0 ? 'building' : i <= equipment ? 'equipment' : 'point')
const isSame = (a: unknown, b: unknown): boolean => stableJson(a) === stableJson(b)
const stableJson = (value: unknown): string =>
  JSON.stringify(value, (_, one) =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(
          Object.entries(one)
            .filter(([, field]) => !(Array.isArray(field) && field.length === 0))
            .toSorted(([a], [b]) => (a < b ? -1 : 1)),
        )
      : one,
  )

/** @throws Problem invalid when there are errors */
function refuse(errors: DataError[]): void {
  if (errors.length > 0) throw new Problem('invalid', `Nothing was saved: ${errors[0]!.message}`, errors)
}

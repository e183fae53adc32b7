/** A tool as data: its name, what it takes, what it may do, and how it answers. */
import type { Static, TObject } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { type Building, ID, type Point } from '#shared/core/model/model.ts'
import { type CentralClient, CentralError } from './central-client.ts'

/** Effect of a tool: the program that asks a person for permission reads it as hints of the protocol. */
export type Effect = 'reads' | 'stages' | 'writes'

export type Tool = {
  name: string
  title: string
  description: string
  input: TObject
  effect: Effect
  /** @throws CentralError */
  answer: (given: any, client: CentralClient) => Promise<string>
}

/** Writes a tool so that its answer sees the types of its input. */
export const tool = <S extends TObject>(
  value: Omit<Tool, 'input' | 'answer'> & { input: S; answer: (given: Static<S>, client: CentralClient) => Promise<string> },
): Tool => value as unknown as Tool

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

/** Parameters of every list. */
export const LIST = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: `rows, ${LIMIT_DEFAULT} unless told otherwise` }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 512, description: 'as the answer before gave it, to go on' })),
}
export const rowLimit = ({ limit = LIMIT_DEFAULT }: { limit?: number | undefined }): number => limit
export const SLICE_CURSOR = Type.Optional(
  Type.String({ pattern: String.raw`^\d{1,9}$`, description: 'as the answer before gave it, to go on' }),
)

export const BUILDING_INPUT = Type.String({ ...ID, description: 'of list_buildings' })
export const EQUIPMENT_INPUT = Type.String({ ...ID, description: 'of list_equipment' })
export const INSTANT = Type.String({
  maxLength: 40,
  description: 'an instant with its offset, such as 2026-03-01T08:00:00-06:00',
})

/** Buildings or points that one request to central brings. */
const PAGE = 1000

/** Every building of the site. */
export const readBuildings = (client: CentralClient): Promise<Building[]> => readAll(client, 'buildings', {})

/** Every point of a building. @throws CentralError unknown_building */
export const readPoints = (client: CentralClient, building_id: string): Promise<Point[]> =>
  readAll(client, 'points', { building_id })

async function readAll<T>(client: CentralClient, of: 'buildings' | 'points', query: { building_id?: string }): Promise<T[]> {
  const all: T[] = []
  let cursor: string | undefined
  do {
    const page = await client.get<Record<typeof of, T[]> & { next_cursor?: string }>(`/api/model/${of}`, {
      ...query,
      limit: PAGE,
      cursor,
    })
    all.push(...page[of])
    cursor = page.next_cursor
  } while (cursor !== undefined)
  return all
}

/** @throws CentralError unknown_building */
export async function readBuilding(client: CentralClient, building_id: string): Promise<Building> {
  const building = (await readBuildings(client)).find(one => one.building_id === building_id)
  if (building) return building
  throw new CentralError('unknown_building', `There is no building ${building_id}`, ['list_buildings names them'])
}

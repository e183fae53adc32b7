/**
 * Files with the states of the rule engine at the ends of building days, from which the next run resumes.
 *
 * They are derived data: a state that is missing, damaged, of another version or in the wrong place is computed again from
 * history.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorText } from '#shared/core/error-text.ts'
import type { EngineStates, SampleLogs } from '#shared/core/ports.ts'
import type { EquipmentState } from '#shared/core/rules/evaluate/equipment-state.ts'
import { makeFolder, replaceFile, syncFolder } from '#shared/node/files.ts'
import { pack, unpack } from './packed.ts'
import { addToSampleLog, readSampleLog } from './sample-log.ts'

/** The first eight bytes of every file; the last one is the version of this layout. */
const MAGIC = Buffer.from('PLENUMS2')
/** Length of a file name, hex digits. */
const NAME_LENGTH = 32
const LOG = '.samples'

/** The folder of all buildings' states in a workspace. */
export const ruleStatesIn = (workspace: string): string => join(workspace, '.cache', 'rule-states')
/** The folder of one building's states. */
export const ruleStatesOf = (workspace: string, building_id: string): string => join(ruleStatesIn(workspace), nameOf(building_id))

/** Content of a file after the magic bytes and the hash. */
type StateFile = { version: string; building_id: string; state: EquipmentState }

/**
 * @param folder may be deleted at any time
 * @param version version of the program; states of another version are not used
 */
export function openEngineStates(folder: string, version: string): EngineStates {
  const paths = createPaths(folder)
  const { endsOf } = paths
  return {
    ends: endsOf,
    load(building_id, at, equipment_id) {
      const path = paths.state(building_id, at, equipment_id)
      if (!existsSync(path)) return { why: 'no state is saved' }
      try {
        const kept = unpack(MAGIC, readFileSync(path)) as StateFile
        const isThis = kept.building_id === building_id && kept.state.equipment_id === equipment_id && kept.state.at === at
        if (!isThis) return { why: `${path} belongs to another building, equipment or day` }
        if (kept.version !== version) return { why: 'another version of the program saved it' }
        return { state: kept.state }
      } catch (error) {
        return { why: `${path}: ${errorText(error)}` }
      }
    },
    async save(building_id, state) {
      const path = paths.state(building_id, state.at, state.equipment_id)
      await makeFolder(dirname(path))
      // The run that saves a state has not checked the samples that were read before it.
      for (const at of endsOf(building_id)) {
        if (at <= state.at) rmSync(paths.log(building_id, at, state.equipment_id), { force: true })
      }
      await replaceFile(path, pack(MAGIC, { version, building_id, state } satisfies StateFile))
    },
    drop(building_id, ends) {
      for (const at of ends) rmSync(paths.day(building_id, at), { recursive: true, force: true })
      // The dropped states may disagree with history: after a power cut they must not be back.
      const path = paths.building(building_id)
      if (ends.length > 0 && existsSync(path)) syncFolder(path)
    },
  }
}

/** @param folder that of `openEngineStates` */
export function openSampleLogs(folder: string): SampleLogs {
  const paths = createPaths(folder)
  const ownerOf = (building_id: string, equipment_id: string) => JSON.stringify([building_id, equipment_id])
  return {
    read: (building_id, at, equipment_id, until) =>
      readSampleLog(paths.log(building_id, at, equipment_id), ownerOf(building_id, equipment_id), at, until),
    add(building_id, at, equipment_id, more, before) {
      addToSampleLog(paths.log(building_id, at, equipment_id), ownerOf(building_id, equipment_id), more, before)
    },
    dropOthers(building_id, equipment_ids) {
      const known = new Set(equipment_ids.map(logName))
      for (const at of paths.endsOf(building_id)) {
        const day = paths.day(building_id, at)
        const others = readdirSync(day).filter(name => name.endsWith(LOG) && !known.has(name))
        for (const name of others) rmSync(join(day, name), { recursive: true, force: true })
        if (others.length > 0) syncFolder(day)
      }
    },
  }
}

/** Paths of the files: a folder for each building, in it a folder for each end of a day. */
function createPaths(folder: string) {
  const building = (building_id: string) => join(folder, nameOf(building_id))
  const day = (building_id: string, at: number) => join(building(building_id), String(at))
  return {
    building,
    day,
    state: (building_id: string, at: number, equipment_id: string) => join(day(building_id, at), `${nameOf(equipment_id)}.state`),
    log: (building_id: string, at: number, equipment_id: string) => join(day(building_id, at), logName(equipment_id)),
    /** Ends of days that have a folder, ms, ascending. */
    endsOf(building_id: string): number[] {
      const path = building(building_id)
      const entries = existsSync(path) ? readdirSync(path, { withFileTypes: true }) : []
      return entries
        .filter(entry => entry.isDirectory())
        .map(({ name }) => Number(name))
        .filter(Number.isInteger)
        .toSorted((a, b) => a - b)
    },
  }
}

const logName = (equipment_id: string): string => nameOf(equipment_id) + LOG

/** A hash of the id, because an id may hold characters that no file name can. */
const nameOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, NAME_LENGTH)

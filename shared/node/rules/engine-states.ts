/**
 * What the rule engine remembers at the ends of building days, so that a run goes on where the last one stopped.
 *
 * Derived data: whatever is missing, damaged, of another version or in the wrong place is reckoned anew from history.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorText } from '#shared/core/error-text.ts'
import type { EngineStates } from '#shared/core/ports.ts'
import type { EquipmentState } from '#shared/core/rules/evaluate/equipment-state.ts'
import { makeFolder, replaceFile, syncFolder } from '#shared/node/files.ts'
import { pack, unpack } from './packed.ts'
import { addToSampleLog, readSampleLog } from './sample-log.ts'

/** Eight bytes at the beginning of every file; the last is the version of this layout. */
const MAGIC = Buffer.from('PLENUMS2')
/** Of a name, hex. */
const NAME_LENGTH = 32

/** The file's content, after the magic and the hash of the rest. */
type Kept = { version: string; building_id: string; state: EquipmentState }

/**
 * @param folder may be deleted at any time
 * @param version of the program: another one may reckon otherwise
 */
export function openEngineStates(folder: string, version: string): EngineStates {
  const ofBuilding = (building_id: string) => join(folder, nameOf(building_id))
  const pathOf = (building_id: string, at: number, name: string) => join(ofBuilding(building_id), String(at), name)
  const fileOf = (building_id: string, at: number, equipment_id: string) =>
    pathOf(building_id, at, `${nameOf(equipment_id)}.state`)
  const logOf = (building_id: string, at: number, equipment_id: string) => pathOf(building_id, at, logName(equipment_id))
  const ends = (building_id: string): number[] => {
    const path = ofBuilding(building_id)
    const entries = existsSync(path) ? readdirSync(path, { withFileTypes: true }) : []
    return entries
      .filter(entry => entry.isDirectory())
      .map(({ name }) => Number(name))
      .filter(Number.isInteger)
      .toSorted((a, b) => a - b)
  }
  const ownerOf = (building_id: string, equipment_id: string) => JSON.stringify([building_id, equipment_id])
  return {
    ends,
    load(building_id, at, equipment_id) {
      const path = fileOf(building_id, at, equipment_id)
      if (!existsSync(path)) return { why: 'nothing is kept of it' }
      try {
        const kept = unpack(MAGIC, readFileSync(path)) as Kept
        const isThis = kept.building_id === building_id && kept.state.equipment_id === equipment_id && kept.state.at === at
        if (!isThis) return { why: `${path} is of something else` }
        if (kept.version !== version) return { why: 'another version of the program kept it' }
        return { state: kept.state }
      } catch (error) {
        return { why: `${path}: ${errorText(error)}` }
      }
    },
    async save(building_id, state) {
      const path = fileOf(building_id, state.at, state.equipment_id)
      await makeFolder(dirname(path))
      // A run that did not go on from this day's state has not looked at what was read on that day either.
      for (const at of ends(building_id)) {
        if (at <= state.at) rmSync(logOf(building_id, at, state.equipment_id), { force: true })
      }
      await replaceFile(path, pack(MAGIC, { version, building_id, state } satisfies Kept))
    },
    samples: (building_id, at, equipment_id, until) =>
      readSampleLog(logOf(building_id, at, equipment_id), ownerOf(building_id, equipment_id), at, until),
    addSamples(building_id, at, equipment_id, more, before) {
      addToSampleLog(logOf(building_id, at, equipment_id), ownerOf(building_id, equipment_id), more, before)
    },
    forgetOthers(building_id, equipment_ids) {
      const known = new Set(equipment_ids.map(logName))
      for (const at of ends(building_id)) {
        const folder = pathOf(building_id, at, '')
        const others = readdirSync(folder).filter(name => name.endsWith(LOG) && !known.has(name))
        for (const name of others) rmSync(join(folder, name), { recursive: true, force: true })
        if (others.length > 0) syncFolder(folder)
      }
    },
    drop(building_id, gone) {
      for (const at of gone) rmSync(pathOf(building_id, at, ''), { recursive: true, force: true })
      // What is gone may have been contradicted: after a power cut it must not be back.
      if (gone.length > 0 && existsSync(ofBuilding(building_id))) syncFolder(ofBuilding(building_id))
    },
  }
}

const LOG = '.samples'
const logName = (equipment_id: string): string => nameOf(equipment_id) + LOG

/** Any id is a file's name so. */
const nameOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, NAME_LENGTH)

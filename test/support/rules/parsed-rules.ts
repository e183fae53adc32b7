/**
 * The shipped rules as the first site of a run of the suite has parsed them, for its later sites: to check the catalogue takes five
 * seconds of each. What is kept is the product's own cache, which parses a file again whose text differs.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const VARIABLE = 'PLENUM_TEST_RULES'

/** Makes the folder of a run of the suite, which goes with it. @returns the variable that tells its tests */
export function openParsedRules(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-parsed-rules-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return { [VARIABLE]: folder }
}

/** Folder of this run of the suite; undefined where a test file is run by something else. */
export const suiteFolder = process.env[VARIABLE]
const cacheOf = (workspace: string): string => join(workspace, '.cache', 'rules.parsed')
/** @param version of the program, which uses no other's */
const keptOf = (version: string): string | undefined => suiteFolder && join(suiteFolder, version)

/** Before a site opens its workspace. */
export function takeParsedRules(workspace: string, version: string): void {
  const [own, kept] = [cacheOf(workspace), keptOf(version)]
  if (kept === undefined || !existsSync(kept) || existsSync(own)) return
  mkdirSync(join(workspace, '.cache'), { recursive: true })
  copyFileSync(kept, own)
}

/** When a site is closed. */
export function keepParsedRules(workspace: string, version: string): void {
  const [own, kept] = [cacheOf(workspace), keptOf(version)]
  if (kept === undefined || existsSync(kept) || !existsSync(own)) return
  copyFileSync(own, `${kept}.${process.pid}`)
  renameSync(`${kept}.${process.pid}`, kept)
}

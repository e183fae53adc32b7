/** Tests that not every run can or need make. Those left out are skipped, so that they are counted as not run. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'

/** Data sets and recordings. They are beside the project, not in it. */
const DATA = '../shared/data'

/** Continuous integration has the data, and so has a machine with the folder: there a file that is missing is a failure. */
const isDataNeeded = (ci: string | undefined, hasFolder: boolean): boolean => ci === 'true' || ci === '1' || hasFolder

export const NEEDS_DATA = isDataNeeded(process.env['CI'], existsSync(DATA))
export const dataPath = (name: string): string => join(DATA, name)

/** Runs a test where the machine can run it. @param can found out by doing it, not by the machine's name */
export const testWhere = (can: boolean) => (can ? test.serial : test.serial.skip)
export const testWithData = testWhere(NEEDS_DATA)

/** `npm test -- --long`: everything as often as it is worth on a machine that has the night for it. */
const IS_LONG = process.env['PLENUM_TEST_LONG'] === '1'
/** @returns how often something is done: `long` times with `--long`, and always often enough to see it fail */
export const timesOf = (usual: number, long: number): number => (IS_LONG ? long : usual)

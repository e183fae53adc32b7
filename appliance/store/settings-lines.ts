/** The settings file of a box: lines of NAME=value, which its pages and a USB stick change. They count from the next start. */
import { existsSync, readFileSync } from 'node:fs'
import { replaceFile } from '#shared/node/files.ts'

const PRIVATE = 0o600
const nameOf = (line: string): string => line.split('=', 1)[0]!.trim()
const linesOf = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])

/** @returns the value of a setting as the file holds it; undefined where it does not */
export const settingIn = (file: string, name: string): string | undefined =>
  linesOf(file)
    .find(line => nameOf(line) === name)
    ?.replace(/^[^=]*=/, '')
    .trim()

/** Replaces the lines of these settings, and leaves the others as they are. @param values undefined removes a line */
export async function changeSettings(file: string, values: Readonly<Record<string, string | undefined>>): Promise<void> {
  const others = linesOf(file).filter(line => line.trim() !== '' && !Object.hasOwn(values, nameOf(line)))
  const own = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
  await replaceFile(file, [...others, ...own].map(line => `${line}\n`).join(''), PRIVATE)
}

/** Licences of what an image holds: their names for the bill of materials, and a file with all texts. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BuiltPackage, LICENCE_FILE } from './application.ts'
import type { DebianPackage } from './package-lock.ts'

type Licensed = { name: string; version: string; licences: string[]; text: string }

/** Fields of Debian's machine-readable form (DEP 5). */
const FIELD = /^Licen[cs]e:[ \t]*(\S.*)$/gim
/** Older files name a text of Debian's common ones. */
const COMMON = /\/usr\/share\/common-licenses\/([\w.+-]*\w)/g

/** @returns short names as the file has them, each once */
export function licenceNames(text: string): string[] {
  const fields = [...text.matchAll(FIELD)].map(([, name]) => name!.trim())
  return [...new Set(fields.length > 0 ? fields : [...text.matchAll(COMMON)].map(([, name]) => name!))].toSorted()
}

/**
 * @param root into which the packages are unpacked
 * @throws Error that names packages without a file of copyright
 */
export function debianLicences(root: string, packages: readonly DebianPackage[]): Licensed[] {
  const pathOf = (name: string) => join(root, 'usr/share/doc', name, 'copyright')
  const missing = packages.filter(({ name }) => !existsSync(pathOf(name))).map(({ name }) => name)
  if (missing.length > 0) throw new Error(`${root} has no file of copyright of ${missing.join(', ')}`)
  return packages.map(({ name, version }) => {
    const text = readFileSync(pathOf(name), 'utf8')
    return { name, version, licences: licenceNames(text), text }
  })
}

/** A package of npm says its licence in a field; not all bring the text. */
export function nodeLicences(packages: readonly BuiltPackage[]): Licensed[] {
  return packages.map(({ name, version, license, folder }) => {
    const texts = readdirSync(folder)
      .filter(file => LICENCE_FILE.test(file))
      .toSorted()
      .map(file => readFileSync(join(folder, file), 'utf8'))
    return { name, version, licences: [license], text: texts.join('\n') }
  })
}

const RULE = '-'.repeat(80)

/** @returns a list of all packages with their licences, and below it every text once */
export function licenceFile(product: Licensed, packages: readonly Licensed[]): string {
  const all = [product, ...packages]
  const names = new Map<string, string[]>()
  for (const { name, text } of all) if (text.trim() !== '') names.set(text, [...new Set([...(names.get(text) ?? []), name])])
  const lines = all.map(
    ({ name, version, licences, text }) =>
      `${name} ${version}: ${licences.join(', ') || 'see its text'}${text.trim() === '' ? ' (the package brings no text)' : ''}`,
  )
  const texts = [...names].flatMap(([text, of]) => [RULE, of.join(', '), RULE, text.trimEnd(), ''])
  return [...lines, '', ...texts].join('\n')
}

/** The exports and imports of a module, read from its text. The formatter fixes the form of both. */
import { resolveImport } from '../closure.ts'

/** `names` is `all` for `import * as`, for a dynamic import without a list of names, and for a module started as a process. */
type Import = { target: string; names: readonly string[] | 'all' }
/** `usedInside` are the exported names that the file itself uses as well. */
export type Module = { file: string; exports: readonly string[]; usedInside: ReadonlySet<string>; imports: readonly Import[] }

const DECLARATION =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:const enum|const|let|function\*?|class|type|interface|enum) (\w+)/gm
const EXPORT_LIST = /^export (?:type )?\{([^}]*)\}(?! from)/gm
const LIST_FROM = /^(?:import|export) (?:type )?(?:\w+, )?\{([^}]*)\} from '([^']+)'/gm
const ALL_FROM = /^(?:import \* as \w+|export \*(?: as \w+)?) from '([^']+)'/gm
const DYNAMIC = /(?:\{([^{}]*)\} = await |typeof )?import\(\s*'([^']+)'\s*\)(?:\.(\w+))?/g
const STARTED = /new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g

/** @returns the names before any `as` in a list of imports or exports */
const namesIn = (list: string): string[] =>
  list
    .split(',')
    .map(name =>
      name
        .trim()
        .replace(/^type /, '')
        .split(/ as |:/)[0]!
        .trim(),
    )
    .filter(Boolean)

/** @param text the source of the file */
export function parseModule(file: string, text: string): Module {
  const declared = [...text.matchAll(DECLARATION)].map(([, name]) => name!)
  const listed = [...text.matchAll(EXPORT_LIST)].flatMap(([, list]) => namesIn(list!))
  const found: [specifier: string, names: Import['names']][] = [
    ...[...text.matchAll(LIST_FROM)].map(([, list, from]) => [from!, namesIn(list!)] as [string, string[]]),
    ...[...text.matchAll(ALL_FROM)].map(([, from]) => [from!, 'all'] as [string, 'all']),
    ...[...text.matchAll(DYNAMIC)].map(([, list, from, member]) => {
      const names = list === undefined ? (member === undefined ? 'all' : [member]) : namesIn(list)
      return [from!, names] as [string, Import['names']]
    }),
    ...[...text.matchAll(STARTED)].map(([, from]) => [from!, 'all'] as [string, 'all']),
  ]
  const imports = found.flatMap(([specifier, names]) => {
    const target = resolveImport(file, specifier)
    return target === undefined ? [] : [{ target, names }]
  })
  const imported = new Set([...text.matchAll(LIST_FROM)].flatMap(([, list]) => namesIn(list!)))
  const exports = [...new Set([...declared, ...listed.filter(name => !imported.has(name))])]
  const usedInside = new Set(exports.filter(name => [...text.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length > 1))
  return { file, exports, usedInside, imports }
}

export const isTest = (file: string): boolean => file.startsWith('test/')

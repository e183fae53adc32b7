/**
 * Bundles each program into a JavaScript file, and what it loads only when it needs it into files beside that. Node then reads a few
 * files instead of two thousand: a box starts in half the time and with less memory. Functions keep their names and lines, so that a
 * stack trace can be read. Under the name that the program has in the repository is a link to the bundle: for a file of TypeScript,
 * however short, Node would load its reader of TypeScript, which takes 18 MB and 45 ms.
 */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'

/** Packages that stay as they are: they have native parts, which they find by their own place. */
export const UNBUNDLED: readonly string[] = ['better-sqlite3', '@duckdb/node-api', 'serialport']
const TS = '.ts'
/** Code of CommonJS packages calls `require` for what Node brings and for the packages that stay. */
const REQUIRE =
  "import { createRequire as requireOfBundle } from 'node:module'\nconst require = requireOfBundle(import.meta.url)\n"

/**
 * @param into folder of the bundles; nothing else is written
 * @param programs mains, and the modules that they start as processes or workers: paths from the root of the repository
 * @throws Error when a program loads a package itself with `import()`: names of one in CommonJS would be missing in the bundle
 */
export async function bundleCode(into: string, programs: readonly string[]): Promise<void> {
  for (const program of programs) {
    const { metafile } = await build({
      metafile: true,
      entryPoints: [{ in: program, out: program.slice(0, -TS.length) }],
      outdir: into,
      bundle: true,
      splitting: true,
      // In the folder of the program, so that places are the same seen from both.
      chunkNames: join(dirname(program), '[name]-[hash]'),
      platform: 'node',
      format: 'esm',
      target: 'node24',
      external: UNBUNDLED.flatMap(name => [name, `${name}/*`]),
      banner: { js: REQUIRE },
      plugins: [ownPlaces(dirname(resolve(program)))],
      legalComments: 'none',
      logLevel: 'error',
    })
    refuseLoadedPackages(metafile)
    for (const file of Object.keys(metafile.outputs)) writeFileSync(file, inAscii(readFileSync(file, 'utf8')))
    symlinkSync(`${basename(program, TS)}.js`, join(into, program))
  }
}

const NOT_ASCII = /[^\0-\x7f]/g

/**
 * Writes each character beyond ASCII by its number: one of them beyond Latin-1 has Node keep the whole file with two bytes for each
 * character. The bundler does so in strings, but not in templates with a tag, expressions and comments; what these mean stays the same,
 * unless a tag looks at the raw text.
 */
const inAscii = (text: string): string =>
  text.replaceAll(NOT_ASCII, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** @throws Error as `bundleCode` does */
export function refuseLoadedPackages({ inputs }: Metafile): void {
  for (const [file, { imports }] of Object.entries(inputs)) {
    for (const { path, kind } of imports) {
      if (kind !== 'dynamic-import' || inputs[path]?.format !== 'cjs') continue
      throw new Error(`${file} loads ${path} with import(): let it load a file of ours that imports it`)
    }
  }
}

/** A module finds its files beside itself. In a bundle it states where that is, seen from the folder of the bundle. */
const ownPlaces = (folder: string): Plugin => ({
  name: 'own places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      if (!text.includes('import.meta.url')) return undefined
      return {
        loader: 'ts',
        contents: text.replaceAll('import.meta.url', `new URL('${relative(folder, path)}', import.meta.url).href`),
      }
    })
  },
})

/** What a bundle would do otherwise than the sources is refused, and a module finds its files from the bundle too. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { build } from 'esbuild'
import { bundleCode, refuseLoadedPackages } from '#image/build/bundle-code.ts'
import { breadcrumbs } from '#shared/central/ui/links.ts'
import { folder } from '../support/folders.ts'

test('a program that loads a package of CommonJS itself is refused, and one that loads a file of ours is not', async t => {
  const metafileOf = async (contents: string) => {
    const stdin = { contents, resolveDir: process.cwd(), sourcefile: 'program.ts' }
    return (await build({ stdin, bundle: true, platform: 'node', format: 'esm', write: false, metafile: true })).metafile
  }
  const refused = await metafileOf("export const { pino } = await import('pino')")
  t.throws(() => refuseLoadedPackages(refused), {
    message: /^program\.ts loads node_modules\/pino\/pino\.js with import\(\): let it load/,
  })
  const loads = await metafileOf("export const { lifeOf } = await import('./shared/node/pki/certificate.ts')")
  t.notThrows(() => refuseLoadedPackages(loads))
})

test('a bundle is where its program is, and finds the files of each module beside that module', async t => {
  const into = folder(t)
  await bundleCode(into, ['shared/node/version.ts'])
  t.deepEqual(readdirSync(join(into, 'shared/node')).toSorted(), ['version.js', 'version.ts'])
  writeFileSync(join(into, 'package.json'), readFileSync('package.json'))
  writeFileSync(join(into, 'VERSION'), '7.8.9+0123456789ab\n')
  mkdirSync(join(into, 'elsewhere'))
  const script = "import('../shared/node/version.js').then(({ readVersion }) => console.log(readVersion()))"
  const said = execFileSync(process.execPath, ['-e', script], { cwd: join(into, 'elsewhere'), encoding: 'utf8' })
  t.is(said, '7.8.9+0123456789ab\n')
})

test('a bundled program runs under its own name without the TypeScript reader of Node', async t => {
  const into = folder(t)
  await bundleCode(into, ['scripts/version.ts'])
  writeFileSync(join(into, 'package.json'), readFileSync('package.json'))
  writeFileSync(join(into, 'VERSION'), '7.8.9+0123456789ab\n')
  const argv = ['--no-strip-types', join(into, 'scripts/version.ts')]
  t.is(execFileSync(process.execPath, argv, { encoding: 'utf8' }), '7.8.9+0123456789ab\n')
})

test('a bundle has ASCII alone, also in templates, and says the same', async t => {
  const into = folder(t)
  await bundleCode(into, ['shared/central/ui/links.ts'])
  const file = join(into, 'shared/central/ui/links.js')
  // Otherwise Node would keep it in memory with two bytes for each character.
  t.true(readFileSync(file).every(byte => byte < 0x80))
  const bundled = (await import(file)) as typeof import('#shared/central/ui/links.ts')
  const building = { building_id: 'b', name: 'B', site_id: 's', timezone: 'UTC', unit_system: 'si' } as const
  const text = String(bundled.breadcrumbs(building, undefined, 'here'))
  t.true(text.includes('›'))
  t.is(text, String(breadcrumbs(building, undefined, 'here')))
})

/** Container files and what goes into an image, against the components and their closure. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { buildApplication } from '#image/build/application.ts'
import { imageTag } from '#image/build/image-tag.ts'
import { targetHere } from '#image/build/target.ts'
import { COMPONENT_NAMES, COMPONENTS } from '#image/recipes/components.ts'
import { closure } from '#scripts/closure.ts'

/** @source specification, "Components"; the others listen where their settings say */
const PORTS: Record<string, number> = { central: 8080, web: 8080, mqtt: 8883 }

for (const component of COMPONENT_NAMES) {
  const text = readFileSync(`image/containers/${component}.containerfile`, 'utf8')
  const lines = text.split('\n')
  const valueOf = (word: string) => lines.findLast(line => line.startsWith(`${word} `))?.slice(word.length + 1) ?? ''

  test(`the container of ${component} starts its own main, and nothing in it is a shell`, t => {
    t.true(text.includes(`scripts/image.ts root ${component} `))
    t.deepEqual(JSON.parse(valueOf('ENTRYPOINT')).at(-1), COMPONENTS[component].main)
    const [, check = ''] = /HEALTHCHECK .* CMD (.*)/.exec(text) ?? []
    const [program, script] = JSON.parse(check) as string[]
    t.deepEqual([program, script], ['/usr/bin/node', 'image/containers/health-check.ts'])
    t.is(valueOf('FROM'), 'scratch')
    t.regex(valueOf('USER'), /^[1-9]\d*:[1-9]\d*$/)
    t.is(valueOf('EXPOSE'), String(PORTS[component] ?? COMPONENTS[component].port))
    t.true(lines.includes('LABEL org.opencontainers.image.version="$VERSION"'))
    t.notRegex(text, /^(?:ADD|ONBUILD|VOLUME|SHELL) /m)
    for (const [, name] of text.matchAll(/^ENV (\w+)=/gm)) {
      if (name !== 'NODE_ENV') t.false('secret' in COMPONENTS[component].env[name!]!, name)
    }
  })
}

test('the application of web is one program, which starts, without migrations, rules, stores and files of pages', async t => {
  const into = mkdtempSync(join(tmpdir(), 'plenum-application-'))
  t.teardown(() => rmSync(into, { recursive: true }))
  const packages = await buildApplication(into, ['hub/web/main.ts'], { target: targetHere(), version: '1.2.3+0123456789ab' })
  const files = readdirSync(into, { recursive: true, withFileTypes: true })
    .filter(entry => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(into.length + 1))
    .filter(path => !path.startsWith('node_modules/'))
  t.deepEqual(files.toSorted(), ['LICENSE', 'VERSION', 'bin/node', 'hub/web/main.js', 'hub/web/main.ts', 'package.json'])
  const { status, stderr } = spawnSync(join(into, 'bin/node'), ['hub/web/main.ts'], {
    cwd: into,
    env: { SERVICE_WEB_PORT: 'none' },
    encoding: 'utf8',
  })
  t.is(status, 78, stderr)
  t.regex(stderr, /^The configuration is wrong:\n  SERVICE_WEB_PORT/)
  const { packages: needed } = closure('hub/web/main.ts')
  const names = packages.map(({ name }) => name)
  for (const name of needed) if (!name.startsWith('node:')) t.true(names.includes(name), name)
  for (const name of ['better-sqlite3', '@duckdb/node-api', 'aedes', 'mqtt', 'htmx.org']) t.false(names.includes(name), name)
})

test('a tag says what an image was built from, or there is none', t => {
  const version = '1.2.3+0123456789ab'
  t.is(imageTag(undefined, { version, isClean: true }), 'sha-0123456')
  t.is(imageTag('nightly', { version, isClean: true }), 'nightly')
  t.is(imageTag('1.2.3', { version, isClean: true }), '1.2.3')
  t.is(imageTag(undefined, { version, isClean: false }), undefined)
  t.throws(() => imageTag('nightly', { version, isClean: false }), { message: /the tree has changes/ })
  for (const tag of ['latest', '1.2.4', 'sha-7654321', ''])
    t.throws(() => imageTag(tag, { version, isClean: true }), { message: /^--tag takes sha-0123456, 1\.2\.3 or nightly/ })
})

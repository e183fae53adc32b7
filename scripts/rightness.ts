/** `node scripts/rightness.ts WORLD`: writes docs/rightness.md from what the scorer of the simulated buildings counts. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { errorText } from '#shared/core/error-text.ts'
import { readVersion } from '#shared/node/version.ts'
import { findPart, type RightnessResults, type RightnessSet, rightnessPage } from './lib-rightness/rightness-page.ts'

const USAGE = `node scripts/rightness.ts WORLD [options]      WORLD is the folder of the simulator with its score.py
  --training DIR        holds packages/ and the scorer's raw/ answers of buildings that rules may be written with
  --confirmation DIR    the same of buildings that were seen once, after the rules were written
                        A part that is not given stays as the page has it, with the version that it was measured with.
  --measured VERSION    the version that gave the answers, as scripts/version.ts prints it; by default the one checked out
  --out FILE            docs/rightness.md by default
`
const PAGE = fileURLToPath(new URL('../docs/rightness.md', import.meta.url))
const TRAINING = 'Rules may be written with these buildings in view, so these are training figures.'
const CONFIRMATION = 'These buildings were seen once, after the rules were written.'

/** Counts one folder with the simulator's own scorer. @throws Error when the folder has no answers */
function readSet(world: string, dir: string, version: string, title: string, note: string): RightnessSet {
  const work = mkdtempSync(join(tmpdir(), 'plenum-rightness-'))
  try {
    const packages = join(dir, 'packages')
    const raw = join(dir, 'raw')
    const out = join(work, 'results.json')
    const truths = readdirSync(packages)
      .filter(name => name.endsWith('.truth.json'))
      .map(name => JSON.parse(readFileSync(join(packages, name), 'utf8')) as { seed: number; building_id: string })
    const answers = truths
      .map(({ seed, building_id }) => ({ seed, file: join(raw, `${building_id}.json`) }))
      .filter(({ file }) => existsSync(file) && 'findings' in JSON.parse(readFileSync(file, 'utf8')))
      .toSorted((a, b) => a.seed - b.seed)
    if (answers.length === 0) throw new Error(`${raw} holds no answers of the packages in ${packages}`)
    const args = [join(world, 'score.py'), '--summary', '--packages', packages, '--raw', raw, '--out', out]
    execFileSync('/usr/bin/python3', args, { stdio: ['ignore', 'ignore', 'inherit'] })
    const date = new Date(Math.max(...answers.map(({ file }) => statSync(file).mtimeMs))).toISOString().slice(0, 10)
    const results = JSON.parse(readFileSync(out, 'utf8')) as RightnessResults
    return { title, note, seeds: answers.map(({ seed }) => seed), date, version, results }
  } finally {
    rmSync(work, { recursive: true })
  }
}

function main(args: string[]): void {
  const text = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { training: text, confirmation: text, measured: text, out: text, help: { type: 'boolean' } },
  })
  const [world] = positionals
  if (values.help || world === undefined) return void process.stdout.write(USAGE)
  const out = values.out ?? PAGE
  const version = values.measured ?? readVersion()
  const page = existsSync(out) ? readFileSync(out, 'utf8') : ''
  const part = (dir: string | undefined, title: string, note: string): RightnessSet | string | undefined =>
    dir === undefined ? findPart(page, title) : readSet(world, dir, version, title, note)
  const training = part(values.training, 'Training', TRAINING)
  if (training === undefined) throw new Error('--training is missing: the folder with packages/ and raw/')
  const confirmation = part(values.confirmation, 'Confirmation', CONFIRMATION)
  writeFileSync(out, rightnessPage([training, confirmation].filter(each => each !== undefined)))
}

try {
  main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`)
  process.exitCode = 64
}

/** `scripts/score DIR`: how many faulty days the shipped rules find, how many normal days they flag, and whom they accuse. */
import { parseArgs } from 'node:util'
import { errorText } from '#shared/core/error-text.ts'
import { EQUIPMENT_TYPES } from '#shared/core/model/model.ts'
import { parseDuration } from '#shared/core/time.ts'
import { type ScoreOptions, scoreFolder, type SetScore } from './lib/score.ts'
import { type AnomalyScore, scoreAnomalies } from './lib/score-anomalies.ts'
import { complaintOf, scoreOf } from './lib/verdict.ts'

const USAGE = `scripts/score DIR [options]      DIR holds labels.csv and the CSV files, plain or gzipped, that it names
  --cold             no history: every day is judged alone
  --noise SEED       adds 0.5 degF of normal noise to every temperature sensor
  --sampling 15m     keeps one sample in 15 minutes
  --bias DEGF        shifts the mixed-air sensor
  --type ahu         what the files are of
  --anomalies        counts the days that anomaly screening flags, and runs no rules
  --json             ends with one line of JSON
`
const round = (seconds: number): number => Math.round(seconds * 10) / 10

function readOptions(args: string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const options = { anomalies: flag, cold: flag, json: flag, help: flag, noise: text, sampling: text, bias: text, type: text }
  const { values, positionals } = parseArgs({ args: withSigns(args), allowPositionals: true, options })
  const [dir] = positionals
  if (values.help || dir === undefined) return { help: true } as const
  const sampling = values.sampling === undefined ? undefined : parseDuration(values.sampling)
  if (values.sampling !== undefined && !sampling)
    throw new Error(`--sampling takes a duration such as 15m, not ${values.sampling}`)
  const type = EQUIPMENT_TYPES.find(known => known === (values.type ?? 'ahu'))
  if (!type) throw new Error(`--type takes one of ${EQUIPMENT_TYPES.join(', ')}`)
  const score: ScoreOptions = { cold: values.cold, type }
  if (values.noise !== undefined) score.noise = numberOf('--noise', values.noise)
  if (values.bias !== undefined) score.bias = numberOf('--bias', values.bias)
  if (sampling) score.sampling = sampling
  return { help: false, dir, json: values.json, anomalies: values.anomalies, score } as const
}

/** `--bias -2` as `--bias=-2`: a number below zero is no option. */
const withSigns = (args: string[]): string[] =>
  args.flatMap((arg, i) => {
    if (/^-\d/.test(arg) && args[i - 1]?.startsWith('--')) return []
    return arg.startsWith('--') && /^-\d/.test(args[i + 1] ?? '') ? [`${arg}=${args[i + 1]}`] : [arg]
  })

function numberOf(name: string, text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new Error(`${name} takes a number, not ${text}`)
  return value
}

const line = ({ set, found, faulty, right, normal, false: wrong, seconds }: Omit<SetScore, 'verdicts'>): string =>
  `${set.padEnd(14)} found ${found} of ${faulty} faulty days, right component on ${right} of them; ${wrong} false of ${normal} normal days; ${round(seconds)} s\n`

const anomalyLine = ({ set, found, faulty, normal, false: wrong, not_scored }: AnomalyScore): string =>
  `${set.padEnd(24)} flagged ${found} of ${faulty} faulty days and ${wrong} of ${normal} normal days; ${not_scored} days have too little history to be scored\n`

async function printAnomalies(dir: string, { type }: ScoreOptions, json: boolean): Promise<void> {
  const sets = await scoreAnomalies(dir, type)
  for (const set of sets) process.stdout.write(anomalyLine(set))
  if (json) process.stdout.write(`${JSON.stringify({ sets })}\n`)
}

async function main(args: string[]): Promise<number> {
  const options = readOptions(args)
  if (options.help) {
    process.stdout.write(USAGE)
    return args.includes('--help') ? 0 : 64
  }
  if (options.anomalies) {
    await printAnomalies(options.dir, options.score, options.json)
    return 0
  }
  const sets = await scoreFolder(options.dir, options.score)
  const verdicts = sets.flatMap(set => set.verdicts)
  for (const text of verdicts.map(complaintOf)) if (text !== undefined) process.stdout.write(`${text}\n`)
  for (const set of sets) process.stdout.write(line(set))
  const total = { ...scoreOf(verdicts), seconds: round(sets.reduce((sum, { seconds }) => sum + seconds, 0)) }
  process.stdout.write(line({ set: 'in all', ...total }))
  if (options.json) {
    const bySet = sets.map(({ set, verdicts: own, seconds }) => ({ set, ...scoreOf(own), seconds: round(seconds) }))
    process.stdout.write(`${JSON.stringify({ ...total, sets: bySet })}\n`)
  }
  return 0
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`score: ${errorText(error)}\n`)
  process.exitCode = 1
}

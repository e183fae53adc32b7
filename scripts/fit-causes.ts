/** `node scripts/fit-causes.ts DIR`: how the weights of causes would have to change to fit simulated faults. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { errorText } from '#shared/core/error-text.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import { firstRight, fitFactors, isForFitting, JUDGED, type JudgedFinding, logLikelihood } from './lib-rightness/cause-fit.ts'

const USAGE = `node scripts/fit-causes.ts DIR [options]      DIR holds packages/ of the simulator and the scorer's raw/ answers
  --least 8          findings that a rule must have in the half of the buildings that is fitted
Half of the buildings is fitted, chosen by a hash of the seed. The other half says whether the fit carries over.
`
/** What is read of a building's truth; `accept`: words of which a right component has one. */
type Truth = {
  building_id: string
  seed: number
  fault: string | null
  accept: string[]
  faulty_equipment: string[]
  fault_from: string
}

/** The first finding of each rule on the faulty equipment after the fault began, unless another one explains it. */
function readFindings(dir: string): JudgedFinding[] {
  const packages = join(dir, 'packages')
  const truths = readdirSync(packages)
    .filter(name => name.endsWith('.truth.json'))
    .map(name => JSON.parse(readFileSync(join(packages, name), 'utf8')) as Truth)
  return truths.flatMap(truth => {
    const file = join(dir, 'raw', `${truth.building_id}.json`)
    if (truth.fault === null || !existsSync(file)) return []
    const { findings = [] } = JSON.parse(readFileSync(file, 'utf8')) as { findings?: Finding[] }
    const begun = Date.parse(truth.fault_from)
    const told = findings.filter(
      ({ equipment_id, kind, suppressed_by, confirmed_at, cause }) =>
        truth.faulty_equipment.includes(equipment_id) &&
        kind !== 'data' &&
        !suppressed_by &&
        cause.length > 0 &&
        new Date(confirmed_at).getTime() >= begun,
    )
    const byRule = new Map(told.toReversed().map(finding => [finding.rule_id, finding]))
    return [...byRule.values()].map(({ rule_id, cause }) => {
      const weights = Object.fromEntries(cause.map(({ component, weight }) => [component, weight]))
      const right = Object.keys(weights).filter(component => truth.accept.some(word => component.includes(word)))
      return { rule_id, seed: truth.seed, weights, right }
    })
  })
}

function main(args: string[]): void {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { least: { type: 'string', default: '8' }, help: { type: 'boolean' } },
  })
  const [dir] = positionals
  if (values.help || dir === undefined) return void process.stdout.write(USAGE)
  const byRule = Map.groupBy(readFindings(dir), ({ rule_id }) => rule_id)
  const total = { judged: 0, fitted: 0, findings: 0, before: 0, after: 0, listed: 0 }
  for (const [rule_id, findings] of [...byRule].toSorted()) {
    const fitted = findings.filter(isForFitting)
    const others = findings.filter(finding => !isForFitting(finding))
    if (fitted.length < Number(values.least)) continue
    const factors = fitFactors(fitted)
    const [before, after] = [firstRight(others, JUDGED), firstRight(others, factors)]
    const list = [...factors].map(([component, factor]) => `${component} × ${factor.toFixed(2)}`).join(', ')
    process.stdout.write(
      `${rule_id}: ${fitted.length} fitted: ${list}; of ${before.of} others first ${before.right} → ${after.right}\n`,
    )
    total.judged += logLikelihood(others, JUDGED)
    total.fitted += logLikelihood(others, factors)
    total.findings += others.length
    total.before += before.right
    total.after += after.right
    total.listed += before.of
  }
  process.stdout.write(
    `of the other half ${total.findings} findings: log likelihood ${total.judged.toFixed(1)} → ${total.fitted.toFixed(1)}, ` +
      `named first ${total.before} → ${total.after} of ${total.listed}\n`,
  )
}

try {
  main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`)
  process.exitCode = 64
}

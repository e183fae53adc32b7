/** The shipped rules on twenty buildings that the simulator beside the project draws from seeds, most of them with one gross fault. */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Finding } from '#shared/core/findings/finding.ts'
import { runRules } from '#shared/core/rules/evaluate/run-rules.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { testWhere } from '../support/optional.ts'
import { readSimulated, type SimulatedBuilding, simulatedIn } from '../support/rules/simulated-building.ts'

const WORLD = '../shared/world'
const PYTHON = '/usr/bin/python3'
const canSimulate =
  existsSync(join(WORLD, 'world.py')) && spawnSync(PYTHON, ['-c', 'import numba'], { stdio: 'ignore' }).status === 0

/** The simulator compiles for 20 s, then each building takes seconds. */
const PATIENCE_MS = 10 * 60_000
const DAYS = 18
const DRAW = `
import json, os, sys
sys.path.insert(0, sys.argv[1])
from sim import building, export
for seed, fault, level in json.loads(sys.argv[2]):
    b = building.draw(seed, fault, level, ${DAYS})
    b.out = building.run(b)
    name = f'W{seed}'
    truth = export.package(b, os.path.join(sys.argv[3], name))
    with open(os.path.join(sys.argv[3], name + '.truth.json'), 'w') as f:
        json.dump(truth, f, default=float)
`

type Expected = { buildings: [seed: number, fault: string | null, level: number][]; missed: string[]; false: string[] }
const expected = JSON.parse(readFileSync('test/cases/scored/simulated.json', 'utf8')) as Expected

const isShown = ({ severity, suppressed_by, kind }: Finding): boolean =>
  severity <= 3 && suppressed_by === undefined && kind !== 'data'

const { rules } = loadRules(['rules'])

/** Findings before a fault began, or without one, are false; a rule that was silent before must show the fault where it is. */
function judge({ truth, timezone, equipment }: SimulatedBuilding): { isMissed: boolean; false: string[] } {
  const [from, to] = [Date.parse(truth.from), Date.parse(truth.to)]
  const findings = runRules({ building_id: truth.building_id, timezone, from, to, rules, equipment }).findings.filter(isShown)
  const began = truth.fault_from === null ? to : Date.parse(truth.fault_from)
  const early = findings.filter(finding => finding.from < began)
  const own = findings.filter(({ equipment_id, rule_id, confirmed_at }) => {
    const isSilentBefore = !early.some(other => other.equipment_id === equipment_id && other.rule_id === rule_id)
    return truth.faulty_equipment.includes(equipment_id) && confirmed_at >= began && isSilentBefore
  })
  return {
    isMissed: truth.fault !== null && own.length === 0,
    false: early.map(({ rule_id, equipment_id }) => `${truth.seed} ${equipment_id} ${rule_id}`),
  }
}

testWhere(canSimulate)('simulated buildings: as many faults found, and none found that is not there', async t => {
  t.timeout(PATIENCE_MS)
  const dir = mkdtempSync(join(tmpdir(), 'plenum-simulated-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  const env = { ...process.env, NUMBA_CACHE_DIR: join(dir, 'numba'), PYTHONDONTWRITEBYTECODE: '1' }
  await promisify(execFile)(PYTHON, ['-c', DRAW, WORLD, JSON.stringify(expected.buildings), dir], { env })
  const judged: { isMissed: boolean; false: string[]; name: string }[] = []
  for (const name of simulatedIn(dir)) {
    const building = readSimulated(dir, name)
    judged.push({ ...judge(building), name: `${building.truth.seed} ${building.truth.fault}` })
    // The runner of the tests must hear from this process.
    await setImmediate()
  }
  t.is(judged.length, expected.buildings.length)
  t.deepEqual(
    judged.flatMap(({ isMissed, name }) => (isMissed ? [name] : [])),
    expected.missed,
  )
  t.deepEqual(
    judged.flatMap(each => each.false),
    expected.false,
  )
})

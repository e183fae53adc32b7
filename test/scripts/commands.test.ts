import test, { type ExecutionContext } from 'ava'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DAY, formatInstant, MINUTE } from '#shared/core/time.ts'

const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url))
const START = Date.UTC(2026, 2, 2)

function folder(t: ExecutionContext, files: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), 'plenum-commands-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content)
  return dir
}

/** Runs a script as a person would. */
function run(script: string, args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [SCRIPTS + script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (out += chunk))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk))
  return new Promise(resolve => child.on('close', code => resolve({ code, out, err })))
}
const lastLine = (text: string) => JSON.parse(text.trimEnd().split('\n').at(-1)!)

/** An air handler at rest: the damper is shut and the coils are idle; on the second day the heating valve passes. */
function labelledDays(): string {
  const header =
    'Time,Supply Air Temperature,Mixed Air Temperature,Return Air Temperature,Outdoor Air Temperature,oa_damper,clg_valve,htg_valve,Supply Air Fan Status'
  const rows = Array.from({ length: (3 * DAY) / (5 * MINUTE) }, (_, i) => {
    const day = Math.floor((i * 5 * MINUTE) / DAY)
    const wobble = (i % 7) / 20
    return [
      formatInstant(START + i * 5 * MINUTE),
      (day === 1 ? 77 : 71) + wobble,
      70 + wobble,
      70 + wobble,
      50 + wobble,
      0,
      0,
      0,
      1,
    ].join(',')
  })
  return [header, ...rows].join('\n')
}
const LABELS = 'file,date,component\nunit,2026-03-02,normal\nunit,2026-03-03,hcv\nunit,2026-03-04,normal\n'

test('a labelled folder is scored through the API, and the last line is JSON', async t => {
  t.timeout(180_000)
  const dir = folder(t, { 'unit.csv': labelledDays(), 'labels.csv': LABELS })
  const { code, out, err } = await run('score.ts', [dir, '--json'])
  t.is(code, 0, err)
  const { seconds, sets, ...score } = lastLine(out)
  t.deepEqual(score, { found: 1, faulty: 1, false: 0, normal: 2, right: 1 })
  t.is(typeof seconds, 'number')
  t.like(sets, { length: 1, 0: { set: 'unit', found: 1, faulty: 1 } })
  t.regex(out, /^in all +found 1 of 1 faulty days/m)
})

test('each day can be judged alone, on noisy data of fifteen minutes', async t => {
  t.timeout(180_000)
  const dir = folder(t, { 'unit.csv': labelledDays(), 'labels.csv': LABELS })
  const { code, out, err } = await run('score.ts', [dir, '--cold', '--noise', '1', '--sampling', '15m', '--bias', '-1', '--json'])
  t.is(code, 0, err)
  t.like(lastLine(out), { found: 1, false: 0, right: 1 })
})

test('a score without a folder or labels says what is missing', async t => {
  t.like(await run('score.ts', []), { code: 64 })
  const { code, err } = await run('score.ts', [folder(t, {})])
  t.is(code, 1)
  t.regex(err, /labels\.csv/)
  t.regex((await run('score.ts', ['.', '--sampling', 'often'])).err, /--sampling takes a duration/)
})

function pointFile(unit: string, valueAt: (i: number) => number | string): string {
  const rows = Array.from({ length: (2 * DAY) / (5 * MINUTE) }, (_, i) => {
    const at = new Date(START + i * 5 * MINUTE)
    return `${at.getUTCMonth() + 1}/${at.getUTCDate()}/2026 ${at.getUTCHours()}:${String(at.getUTCMinutes()).padStart(2, '0')},${valueAt(i)}`
  })
  return [`Times,Value (${unit})`, ...rows].join('\n')
}

test('point files become a building, and a box without flow is found in it', async t => {
  t.timeout(180_000)
  const box = (name: string, flow: (i: number) => number) => ({
    [`${name}_SUPFLOW.csv`]: pointFile('cfm', flow),
    [`${name}_SUPFLOSP.csv`]: pointFile('cfm', () => 500),
    [`${name}_DPR-O.csv`]: pointFile('%', () => 100),
  })
  const dir = folder(t, {
    'S-7_SF-S.csv': pointFile('', () => 'On').replace('Value ()', 'Value'),
    // 13 March is no month, so the whole export has its months first.
    'S-7_OA-T.csv': `Times,Value (°F)\n${Array.from({ length: 20 }, (_, i) => `3/13/2026 0:${String(i).padStart(2, '0')},${50 + i}`).join('\n')}\n`,
    ...box('VAV-1', i => 490 + (i % 9)),
    ...box('VAV-2', () => 0),
  })
  const { code, out, err } = await run('import-points.ts', [dir, '--timezone', 'America/Chicago', '--days', '14', '--json'])
  t.is(code, 0, err)
  const { equipment, files, mapped, failed } = lastLine(out)
  t.deepEqual({ files, mapped, failed }, { files: 8, mapped: 8, failed: [] })
  const found = Object.fromEntries(
    equipment.map((one: { equipment_id: string; findings: { rule_id: string }[] }) => [
      one.equipment_id,
      one.findings.map(({ rule_id }) => rule_id),
    ]),
  )
  t.deepEqual(found['VAV-1'], [])
  t.deepEqual(found['VAV-2'], ['VAV-FLOW-DEAD'])
  t.regex(out, /VAV-FLOW-DEAD .* the flow sensor read 0 L\/s/)
})

test('point files that do not say where they are from need a time zone', async t => {
  const dir = folder(t, { 'VAV-1_SUPFLOW.csv': pointFile('cfm', () => 1) })
  const { code, err } = await run('import-points.ts', [dir])
  t.is(code, 1)
  t.regex(err, /give --timezone/)
})

test('the pages show an import to a person who signs in as told, until the process is asked to end', async t => {
  t.timeout(180_000)
  const dir = folder(t, {
    'VAV-1_SUPFLOW.csv': pointFile('cfm', () => 1)
      .replaceAll('3/2/2026', '3/13/2026')
      .replaceAll('3/3/2026', '3/14/2026'),
  })
  const args = [`${SCRIPTS}import-points.ts`, dir, '--timezone', 'America/Chicago', '--pages']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = new Promise<number | null>(resolve => child.on('close', resolve))
  const told = await new Promise<RegExpExecArray>((resolve, reject) => {
    void ended.then(code => reject(new Error(`ended with ${code}`)))
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /(http:\S+)\/faults shows this; sign in as (\w+) with (\w+)/.exec((out += chunk))
      if (found) resolve(found)
    })
  })
  const [, url, username, password] = told
  const login = await fetch(`${url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept: 'text/html', origin: url! },
    body: new URLSearchParams({ username: username!, password: password! }),
  })
  const cookie = login.headers.getSetCookie()[0]!.split(';')[0]!
  for (const path of ['/', '/faults', '/points'])
    t.is((await fetch(url + path, { headers: { accept: 'text/html', cookie } })).status, 200, path)
  child.kill('SIGINT')
  t.is(await ended, 0)
})

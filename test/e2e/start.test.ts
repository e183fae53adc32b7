import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { POINTS } from '#scripts/simulator/building/points.ts'
import { descendants, eventually, freeBase, isAlive, runStart, temporaryFolder } from './run-start.ts'

/** One site at a time: each is three busy processes. */
const serial = test.serial
const PORTS = 17

serial('one command shows three findings of the appliance at the hub and leaves nothing behind', async t => {
  t.timeout(200_000)
  const run = await runStart(t, '--once', '--json', '--port-base', String(await freeBase(PORTS)))
  const children = await eventually('the hub and the appliance', 90_000, async () => {
    const below = await descendants(run.child.pid!)
    return below.length >= 2 ? below : undefined
  })
  t.is(await run.exit, 0, run.err())
  const lines = run.out().trim().split('\n')
  t.is(lines.length, 1)
  const summary = JSON.parse(lines[0]!)
  t.is(summary.edges, 1)
  t.is(summary.points, POINTS.length)
  t.true(summary.readings > 1000, `${summary.readings} readings`)
  t.true(summary.ingest_ok > 0)
  t.true(summary.seconds > 0 && summary.seconds < 180)
  t.true(summary.findings.length >= 3)
  for (const finding of summary.findings) {
    t.regex(finding.from, /^2026-07-14T\d{2}:\d{2}:\d{2}/)
    t.true(finding.rule_id !== '' && finding.equipment_id !== '')
  }
  t.deepEqual(children.filter(isAlive), [])
  t.deepEqual(await leftovers(run.tmp), [])
})

serial('a stopped site goes on in its folder, with the same passwords and its own time', async t => {
  t.timeout(200_000)
  const base = await freeBase(PORTS)
  const folder = join(await temporaryFolder(t), 'site')
  const first = await runStart(t, '--port-base', String(base), '--data', folder)
  await eventually('the greeting', 90_000, () => (first.out().includes('Plenum runs') ? true : undefined))
  t.regex(first.out(), new RegExp(`http://127\\.0\\.0\\.1:${base}\\b`))
  const passwords = JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8')).passwords
  t.true(first.out().includes(passwords.admin))
  t.is((await stat(join(folder, 'secrets.json'))).mode & 0o777, 0o600)
  first.child.kill('SIGINT')
  t.is(await first.exit, 0, first.err())
  const stoppedAt = JSON.parse(await readFile(join(folder, 'clock.json'), 'utf8')).ms

  const second = await runStart(t, '--port-base', String(base), '--data', folder)
  await eventually('the second greeting', 90_000, () => (second.out().includes('Plenum runs') ? true : undefined))
  t.false(second.out().includes(passwords.admin), 'passwords are shown once')
  const token = await logIn(base, passwords.viewer)
  t.is(token.status, 200)
  const headers = { authorization: `Bearer ${((await token.json()) as { token: string }).token}` }
  const checked = await eventually('when the box looked for faults', 90_000, async () => {
    const { edges } = (await (await fetch(`http://127.0.0.1:${base}/api/edges`, { headers })).json()) as {
      edges: { reported: { last_check_at: string | null } }[]
    }
    return edges[0]?.reported.last_check_at ?? undefined
  })
  t.true(Date.parse(checked) > Date.parse('2026-07-14T00:00:00Z'), checked)
  second.child.kill('SIGTERM')
  t.is(await second.exit, 0, second.err())
  t.true(JSON.parse(await readFile(join(folder, 'clock.json'), 'utf8')).ms > stoppedAt)
  t.false((await readdir(folder)).includes('running.pid'))
})

serial('a box that is killed leaves the hub alone, and comes back', async t => {
  t.timeout(300_000)
  const base = await freeBase(PORTS)
  const run = await runStart(t, '--port-base', String(base))
  await eventually('the greeting', 90_000, () => (run.out().includes('Plenum runs') ? true : undefined))
  const boxes = async () => {
    const parts = await descendants(run.child.pid!)
    return parts.filter(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('appliance/main.ts'))
  }
  const [box] = await boxes()
  process.kill(box!, 'SIGKILL')
  await eventually('the news', 30_000, () => (run.out().includes('was ended by SIGKILL. The hub goes on') ? true : undefined))
  t.is((await fetch(`http://127.0.0.1:${base}/api/health`)).status, 200)
  const [back] = await eventually('another box', 90_000, async () => {
    const there = await boxes()
    return there.length > 0 ? there : undefined
  })
  t.not(back, box)
  t.true(run.out().includes('The appliance starts again.'))
  run.child.kill('SIGINT')
  t.is(await run.exit, 0, run.err())
  t.false(isAlive(back!))
})

serial('a start that is killed takes the hub and the appliance with it', async t => {
  t.timeout(200_000)
  const run = await runStart(t, '--port-base', String(await freeBase(PORTS)))
  await eventually('the greeting', 90_000, () => (run.out().includes('Plenum runs') ? true : undefined))
  const parts = await descendants(run.child.pid!)
  t.true(parts.length >= 2)
  run.child.kill('SIGKILL')
  await run.exit
  await eventually('the end of its parts', 60_000, () => (parts.some(isAlive) ? undefined : true))
  t.pass()
})

/** Node has a cache of compiled code there; the rest is ours. */
const leftovers = async (tmp: string) => (await readdir(tmp)).filter(name => name.startsWith('plenum'))

function logIn(base: number, password: string): Promise<Response> {
  const body = JSON.stringify({ username: 'viewer', password })
  return fetch(`http://127.0.0.1:${base}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
}

for (const { name, offset, open } of [
  { name: 'the broker', offset: 2, open: openTcp },
  { name: 'a simulated device', offset: 12, open: openUdp },
]) {
  serial(`a port of ${name} that is taken ends the start with a sentence`, async t => {
    const base = await freeBase(PORTS)
    const taken = await open(base + offset)
    t.teardown(() => taken.close())
    const run = await runStart(t, '--once', '--port-base', String(base))
    t.is(await run.exit, 1)
    t.regex(run.err(), new RegExp(`Port ${base + offset} for ${name} is taken; choose others with --port-base`))
    t.deepEqual(await leftovers(run.tmp), [])
  })
}

async function openTcp(port: number) {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

async function openUdp(port: number) {
  const socket = createSocket('udp4')
  socket.bind(port, '127.0.0.1')
  await once(socket, 'listening')
  return socket
}

serial('a data folder that cannot be written ends the start with a sentence', async t => {
  const path = await temporaryFolder(t)
  await writeFile(join(path, 'a file'), '')
  const run = await runStart(t, '--data', join(path, 'a file', 'below'), '--port-base', String(await freeBase(PORTS)))
  t.is(await run.exit, 1)
  t.regex(run.err(), /The data folder .*a file\/below cannot be written: ENOTDIR/)
})

serial('options that make no sense are answered with the usage', async t => {
  for (const args of [['--bogus'], ['--speed', '0'], ['--port-base', 'x'], ['--json'], ['--data', '']]) {
    const run = await runStart(t, ...args)
    t.is(await run.exit, 2, args.join(' '))
    t.regex(run.err(), /usage: scripts\/start/)
  }
})

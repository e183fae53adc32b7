/**
 * The scripts of the box that install, watch and confirm an update, and its console, run as they are with their paths in a folder of the
 * test. They ask a real HTTPS server; RAUC, systemd and GRUB note what they are told.
 */
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { openUpdates } from '#appliance/system/updates.ts'
import { issueServer, makeCa } from '#shared/node/pki/pki.ts'
import { canMountTmpfs } from '../support/disk/mounts.ts'
import { smallDisk } from '../support/disk/small-disk.ts'
import { folder } from '../support/folders.ts'
import { testWhere } from '../support/optional.ts'

const SCRIPTS = 'image/root/usr/lib/plenum'
const [OLD, NEW] = ['1.0.0+aaaaaaaaaaaa', '1.1.0+bbbbbbbbbbbb']
/** On a box that is `/usr/bin/wget` of busybox; the options are the same. */
const hasWget = existsSync('/usr/bin/wget')
const run = promisify(execFile)

type Answers = { login: number; health: number }

async function openBox(t: ExecutionContext) {
  const at = folder(t)
  for (const name of ['bin', 'efi', 'updates', 'system']) mkdirSync(join(at, name))
  const put = (name: string, text: string) => writeFileSync(join(at, name), text)
  const answers: Answers = { login: 200, health: 200 }
  const authority = await makeCa({ name: 'box', now: Date.now(), days: 30 })
  const { key_pem, cert_pem } = await issueServer(authority, { cn: 'box', hosts: ['127.0.0.1'], now: Date.now(), days: 30 })
  const health = { ok: true, checks: { poll: { status: 'ok', points_ok: 7 } } }
  const server = createServer({ key: key_pem, cert: cert_pem }, (request, reply) => {
    reply.statusCode = request.url === '/login' ? answers.login : answers.health
    reply.end(JSON.stringify(health))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo

  const moved = (text: string) =>
    text
      .replaceAll('/var/lib/plenum/updates', join(at, 'updates'))
      .replaceAll('/var/lib/plenum-system', join(at, 'system'))
      .replaceAll('/usr/lib/plenum/', `${at}/`)
      .replaceAll('/usr/bin/ip', 'ip')
      .replaceAll('/boot/efi', join(at, 'efi'))
      .replaceAll('/opt/plenum/VERSION', join(at, 'VERSION'))
      .replaceAll('/etc/machine-id', join(at, 'machine-id'))
      .replaceAll('/proc/cmdline', join(at, 'cmdline'))
      .replaceAll('https://127.0.0.1', `https://127.0.0.1:${port}`)
      .replace(/^healthy_secs=.*$/m, 'healthy_secs=2')
      .replace(/^patience_secs=.*$/m, 'patience_secs=2')
      .replace(/^left_secs=.*$/m, 'left_secs=2')
      .replace(/^step=.*$/m, 'step=1')
  for (const name of ['common', 'confirm', 'update', 'rescue']) put(name, moved(readFileSync(join(SCRIPTS, name), 'utf8')))
  const program = (name: string, text: string) => {
    put(`bin/${name}`, `#!/bin/sh\n${text}\n`)
    chmodSync(join(at, 'bin', name), 0o755)
  }
  for (const name of ['rauc', 'systemctl', 'grub-editenv', 'ip']) program(name, `echo "${name} $*" >> ${join(at, 'told')}`)
  program('journalctl', `cat ${join(at, 'journal')}`)
  for (const name of ['chown', 'sync']) program(name, ':')
  program('../reset', `echo reset >> ${join(at, 'told')}`)
  put('system/name', 'plenum-ab12\n')
  put('machine-id', '0123\n')
  put('cmdline', 'quiet rauc.slot=B\n')
  put('journal', '')
  put('efi/grubenv', 'environment=1\n')

  const updates = openUpdates(join(at, 'updates'))
  const env = { PATH: `${join(at, 'bin')}:${process.env['PATH']}` }
  const script = (name: string) => run('sh', [join(at, name)], { env }).catch((error: { code?: number }) => error)
  /** @returns what the console says to lines that are typed */
  const type = async (lines: readonly string[]) => {
    const console = run('sh', [join(at, 'rescue')], { env })
    // A console that is switched off has ended before it is typed to.
    console.child.stdin!.on('error', () => undefined)
    console.child.stdin!.end(lines.map(line => `${line}\n`).join(''))
    return (await console.catch((error: { stdout: string }) => error)).stdout
  }
  return {
    at,
    put,
    program,
    answers,
    health,
    updates,
    script,
    type,
    runs: (version: string) => put('VERSION', `${version}\n`),
    tell: (state: string, version = NEW) =>
      put('updates/state.json', JSON.stringify({ state, version, slot: 'B', reason: '', at: '2026-01-02T03:04:05Z' })),
    told: () => (existsSync(join(at, 'told')) ? readFileSync(join(at, 'told'), 'utf8').trim().split('\n') : []),
    has: (name: string) => existsSync(join(at, name)),
  }
}

const onBox = testWhere(hasWget)

onBox('a version that is healthy without a break is confirmed, and what was before is forgotten', async t => {
  const box = await openBox(t)
  box.runs(NEW)
  box.tell('installed')
  box.put('updates/before.json', '{}')
  await box.script('confirm')
  t.like(box.updates.state(), { state: 'confirmed', version: NEW, slot: 'B', reason: '' })
  t.true(box.told().includes('rauc status mark-good'))
  t.false(box.told().some(line => line.includes('reboot')))
  t.false(box.has('updates/before.json'))
})

testWhere(hasWget && canMountTmpfs())(
  'on a full disk a version on trial that is not well is left all the same, and nothing that was noted is lost',
  async t => {
    const box = await openBox(t)
    const disk = smallDisk(t, join(box.at, 'updates'), 65_536)
    box.runs(NEW)
    box.tell('installed')
    disk.fill()
    box.answers.health = 503
    await box.script('confirm')
    t.deepEqual(box.told(), ['rauc status mark-bad', 'systemctl reboot'])
    t.like(box.updates.state(), { state: 'installed', version: NEW })
    box.answers.health = 200
    await box.script('confirm')
    t.is(box.told()[2], 'rauc status mark-good', 'well again, it is watched and confirmed')
  },
)

onBox('a version that was left is not confirmed: while it is well it runs, and otherwise the others are tried again', async t => {
  const box = await openBox(t)
  box.runs(NEW)
  box.tell('rolled_back')
  box.put('efi/grubenv', 'environment=1\nA_OK=1\nB_OK=0\n')
  const confirming = box.script('confirm')
  await new Promise(resolve => setTimeout(resolve, 5000))
  t.deepEqual(box.told(), [], 'it is well')
  box.answers.health = 503
  await confirming
  t.deepEqual(box.told(), ['systemctl reboot'])
  t.like(box.updates.state(), { state: 'rolled_back' })
})

onBox(
  'where the version that was confirmed last does not start any more, the one before says so, also after an update that was refused',
  async t => {
    const box = await openBox(t)
    box.runs(NEW)
    box.tell('installed')
    await box.script('confirm')
    box.tell('refused', OLD)
    await box.script('confirm')
    t.like(box.updates.state(), { state: 'refused' }, 'it runs as before')
    box.runs(OLD)
    await box.script('confirm')
    t.like(box.updates.state(), { state: 'rolled_back', version: NEW, reason: `${OLD} runs again: it did not start` })
  },
)

onBox('a confirmed start ends the rounds of starts that were not', async t => {
  const box = await openBox(t)
  box.runs(NEW)
  box.tell('confirmed')
  box.put('efi/grubenv', 'environment=1\nB_OK=1\nROUND=2\nmachine_id=0123\n')
  await box.script('confirm')
  t.true(box.told().includes(`grub-editenv ${box.at}/efi/grubenv set ROUND=0`))
  const other = await openBox(t)
  other.runs(NEW)
  other.tell('confirmed')
  other.put('efi/grubenv', 'environment=1\nB_OK=1\nROUND=0\nmachine_id=0123\n')
  await other.script('confirm')
  t.deepEqual(other.told(), ['rauc status mark-good'], 'nothing is written that is there')
})

const NASTY = [
  '{"level":60,"msg":"cannot open \\"a\\\\b\\"","at":"C:\\\\x"}',
  '\tat a tab\u0007 and a bell',
  'Grüße "state":"confirmed"',
]
for (const [title, answers, trial, reason] of [
  [
    'lacks what worked before',
    { login: 200, health: 503 },
    'update: since the update: uplink: the hub was connected before and is not ("away")\n',
    /the hub was connected before and is not \("away"\)/,
  ],
  ['serves no page', { login: 500, health: 200 }, '', /its page does not answer/],
  ['is not well and says no more', { login: 200, health: 503 }, '', /it says that it is not well/],
] as const)
  onBox(`a version that ${title} is left, and the one before tells the reason and the end of the log`, async t => {
    const box = await openBox(t)
    box.runs(NEW)
    box.tell('installed')
    box.put('updates/trial.txt', trial)
    box.put('journal', `${NASTY.join('\n')}\n`)
    Object.assign(box.answers, answers)
    await box.script('confirm')
    t.deepEqual(box.told(), ['rauc status mark-bad', 'systemctl reboot'])
    t.is(box.updates.state()?.state, 'trying')

    // The box starts the other slot.
    box.runs(OLD)
    Object.assign(box.answers, { login: 200, health: 200 })
    await box.script('confirm')
    const last = box.updates.state()
    t.like(last, { state: 'rolled_back', version: NEW })
    t.true(last!.reason.startsWith(`${OLD} runs again: it was not healthy for 2 s: `), last!.reason)
    t.regex(last!.reason, reason)
    t.deepEqual(last!.log, [NASTY[0]!, 'at a tab and a bell', NASTY[2]!])
    // The next boot neither repeats nor loses it.
    await box.script('confirm')
    t.is(box.updates.state()?.state, 'rolled_back')
  })

onBox('a version that never came up is told as such', async t => {
  const box = await openBox(t)
  box.runs(OLD)
  box.tell('installed')
  await box.script('confirm')
  t.like(box.updates.state(), { state: 'rolled_back', reason: `${OLD} runs again: it did not start` })
  t.is(box.updates.state()?.log, undefined)
})

onBox('an update keeps the health of the version before, and nothing of an older one', async t => {
  const box = await openBox(t)
  box.runs(OLD)
  box.program('rauc', `case $1 in info) echo "RAUC_MF_VERSION='${NEW}'" ;; esac`)
  box.put('updates/install', 'newer\n')
  box.put('updates/trial.txt', 'of an earlier trial')
  await box.script('update')
  t.is(box.updates.state()?.state, 'installed')
  t.deepEqual(JSON.parse(readFileSync(join(box.at, 'updates/before.json'), 'utf8')), box.health)
  t.false(box.has('updates/trial.txt'))
  t.true(box.told().includes('systemctl reboot'))

  box.answers.health = 503
  box.put('updates/install', 'newer\n')
  await box.script('update')
  t.false(box.has('updates/before.json'))
})

onBox('an older version and the one that runs are refused unless they are asked for', async t => {
  const box = await openBox(t)
  box.runs(NEW)
  for (const [version, reason] of [
    [OLD, `it is older than ${NEW}`],
    [NEW, 'it runs already'],
  ] as const) {
    box.program('rauc', `case $1 in info) echo "RAUC_MF_VERSION='${version}'" ;; esac`)
    box.put('updates/install', 'newer\n')
    await box.script('update')
    t.like(box.updates.state(), { state: 'refused', version, reason })
    t.deepEqual(box.told(), [])
  }
  box.put('updates/install', 'force\n')
  await box.script('update')
  t.is(box.updates.state()?.state, 'installed')
})

onBox('the console shows how the box is, runs nothing else, and erases only the box that is named', async t => {
  const box = await openBox(t)
  box.runs(OLD)
  box.tell('confirmed', OLD)
  const said = await box.type(['status', '', 'sh', '$(reboot)', 'reset', 'reset plenum-zz99', 'status; reboot'])
  t.regex(said, /^plenum-ab12, version 1\.0\.0\+aaaaaaaaaaaa in slot B\. Commands:/)
  t.regex(said, /The page answers, and the box is well\.\nLast update: 1\.0\.0\+aaaaaaaaaaaa confirmed/)
  t.is(said.split('Nothing is erased: type reset plenum-ab12').length, 3)
  t.deepEqual(box.told(), ['ip -brief address show'])
  box.answers.health = 503
  t.regex(await box.type(['status']), /health says that something fails/)
  box.answers.login = 500
  t.regex(await box.type(['status']), /The page does not answer/)
  await box.type(['reset plenum-ab12'])
  t.is(box.told().at(-1), 'reset')
})

onBox('the console sets the network aside, starts the other version, and says so when that one runs', async t => {
  const box = await openBox(t)
  box.runs(NEW)
  box.tell('confirmed')
  box.put('system/system.json', '{}')
  await box.type(['network'])
  t.false(box.has('system/system.json'))
  t.true(box.has('system/system.json.aside'))
  await box.type(['other'])
  t.deepEqual(box.told(), ['systemctl reboot', 'rauc status mark-active other', 'systemctl reboot'])
  box.runs(OLD)
  await box.script('confirm')
  t.like(box.updates.state(), { state: 'rolled_back', reason: `${OLD} runs again: it was left at the console of the box` })
})

onBox('a console that is switched off says nothing', async t => {
  const box = await openBox(t)
  box.program('sleep', 'exit 0')
  box.put('system/system.json', '{ "uplink": { "interface": "eth0" },\n "console" : false }')
  t.is(await box.type(['status', 'restart']), '')
  t.deepEqual(box.told(), [])
})

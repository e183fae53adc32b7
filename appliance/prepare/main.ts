/**
 * Prepares a box whose operating system is ours. At each boot `system` configures network and firewall as root, and `secrets` makes
 * what a first boot needs as the appliance's own user, and renews the certificate of the page, also once a week; `stick` takes what a
 * USB stick brings, as root, and `network` what the page asks for of the network.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { resultFile } from '#shared/core/system/stick-files.ts'
import { errorText } from '#shared/core/error-text.ts'
import { SECOND } from '#shared/core/time.ts'
import { makeFolder, replaceFile } from '#shared/node/files.ts'
import { timeSynced } from '#shared/node/machine.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { readVersion, versionMadeAt } from '#shared/node/version.ts'
import { firewall } from '../core/system/firewall.ts'
import { networkUnits } from '../core/system/network-units.ts'
import { serviceSettings } from '../core/system/service-settings.ts'
import { defaultSystem, readSystem, readWish, type SystemSettings, withWish } from '#shared/core/system/system-file.ts'
import { PREPARE_ENV } from './env.ts'
import { boxName, firstSecrets, firstSite, pageCertificate, pageFingerprint } from './identity.ts'
import { openUpdates } from '../system/updates.ts'
import { lastUpdateLines, resultSince, stickText, takeStick } from './stick.ts'

const COMMANDS = ['system', 'secrets', 'stick', 'network']
const argv = process.argv.slice(2)
const { settings } = settingsOrExit(
  'prepare: `system` configures network and firewall; `secrets` makes name, certificate and password, and renews the certificate; `stick` takes what a USB stick brings; `network` checks settings that the page asks for',
  PREPARE_ENV,
  process.env,
  argv,
  // The settings are those of the appliance, most of which are unknown here.
  { flags: COMMANDS, isFileRead: false },
)
const { SERVICE_SYSTEM_DIR: folder, SERVICE_RUN_DIR: runtime, SERVICE_WORKSPACE: workspace, SERVICE_TLS_DIR: tls } = settings
const name = join(folder, 'name')
/** Below `runtime`, for the page Network. */
const STARTED_WITH = 'plenum-system.json'
const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** A file that cannot be used leaves the box reachable: it starts as if there were none, and says why. */
function systemSettings(): SystemSettings {
  const byDefault = () => defaultSystem(readdirSync('/sys/class/net'))
  const file = join(folder, 'system.json')
  if (!existsSync(file)) return byDefault()
  const read = readSystem(readFileSync(file, 'utf8'))
  if (read.ok) return read.system
  say(`${file} is not used: ${read.complaints.join('; ')}`)
  return byDefault()
}

async function prepareSystem(): Promise<void> {
  await makeFolder(folder)
  const host = await boxName({ name })
  writeFileSync('/proc/sys/kernel/hostname', host)
  const system = systemSettings()
  for (const { name: path, text } of [...networkUnits(system), ...serviceSettings(system)]) {
    const file = join(runtime, path)
    await makeFolder(dirname(file), READABLE_FOLDER)
    await replaceFile(file, text, READABLE)
  }
  await replaceFile(join(runtime, 'plenum.nft'), firewall(system), READABLE)
  await replaceFile(join(runtime, STARTED_WITH), `${JSON.stringify(system)}\n`, READABLE)
}
/** systemd's network service reads them as a user of its own. */
const READABLE = 0o644
const READABLE_FOLDER = 0o755

async function prepareSecrets(): Promise<void> {
  const host = await boxName({ name })
  // On a full disk it cannot be renewed, and an old one is better than a box that does not start.
  const fingerprint = await pageCertificate({ tls }, host, Date.now()).catch(error => {
    say(`Plenum: the certificate of the page could not be made or renewed: ${errorText(error)}`)
    return pageFingerprint({ tls })
  })
  const password = await firstSecrets({ workspace })
  await firstSite({ workspace }, host)
  say(`Plenum: https://${host}.local/ certificate SHA-256 ${fingerprint}`)
  if (password !== undefined) say(`Plenum: sign in as admin with ${password} and keep it: it is not shown again`)
}

/** The script that mounted the stick does what is left. */
const EXIT = { nothing: 0, restart: 10, reset: 11 } as const

async function prepareFromStick(): Promise<void> {
  const host = await boxName({ name })
  const { SERVICE_STICK_DIR: stick, SERVICE_EDGE_KIT_DIR: kit } = settings
  const result = join(stick, resultFile(host))
  if (systemSettings().usb === false) return say(`Plenum: USB sticks are not used: ${folder}/system.json says so`)
  const last = openUpdates(settings.SERVICE_UPDATE_DIR).state()
  if (existsSync(result)) {
    const since = resultSince(readFileSync(result, 'utf8'), last)
    if (since !== undefined) await replaceFile(result, since)
    return say(`Plenum: this USB stick was taken before; remove ${basename(result)} from it to take it again`)
  }
  const places = {
    stick,
    system: folder,
    kit,
    workspace,
    settings: settings.SERVICE_SETTINGS_FILE,
    updates: settings.SERVICE_UPDATE_DIR,
  }
  const own = { now: Date.now(), isSynced: timeSynced() === true, notBefore: versionMadeAt() ?? 0 }
  const { lines, wish, clock } = await takeStick(places, host, own)
  // Beside the stick: the script that mounted it may set the clock, and this program may not.
  if (clock !== undefined) await replaceFile(`${stick}.clock`, `${Math.round(clock / SECOND)}\n`)
  const head = [
    `${host}, version ${readVersion()}, ${new Date().toISOString()}`,
    `certificate SHA-256 ${pageFingerprint({ tls })}`,
    ...lastUpdateLines(last),
  ]
  await replaceFile(result, stickText([...head, ...lines]))
  for (const line of lines) say(`Plenum USB stick: ${line}`)
  process.exitCode = EXIT[wish]
}

async function prepareNetwork(): Promise<void> {
  const read = wished()
  if (read.ok) return replaceFile(join(folder, 'system.json.wanted'), `${JSON.stringify(read.system, undefined, 2)}\n`, READABLE)
  say(read.complaints.join('; '))
  process.exitCode = 1
}

/** @returns the settings that the page asks for; what it may not ask for stays as the box has started with it */
function wished(): ReturnType<typeof readSystem> {
  const wish = readWish(readFileSync(join(settings.SERVICE_NETWORK_DIR, 'wanted.json'), 'utf8'))
  if (!wish.ok) return wish
  const runs = readSystem(readFileSync(join(runtime, STARTED_WITH), 'utf8'))
  return runs.ok ? withWish(runs.system, wish.wish) : runs
}

const RUN = { system: prepareSystem, secrets: prepareSecrets, stick: prepareFromStick, network: prepareNetwork }
const commands = argv.filter(word => COMMANDS.includes(word))
for (const command of commands) await RUN[command as keyof typeof RUN]()
if (commands.length === 0) {
  process.stderr.write(`prepare: name one of ${COMMANDS.join(', ')}\n`)
  process.exitCode = 64
}

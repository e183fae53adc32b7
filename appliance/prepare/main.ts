/**
 * Prepares a box whose operating system is ours, at each boot: `system` configures network and firewall as root, `secrets` makes
 * what a first boot needs as the appliance's own user.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { makeFolder, replaceFile } from '#shared/node/files.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { firewall } from '../core/system/firewall.ts'
import { networkUnits } from '../core/system/network-units.ts'
import { defaultSystem, readSystem, type SystemSettings } from '../core/system/system-file.ts'
import { PREPARE_ENV } from './env.ts'
import { boxName, firstSecrets, firstSite, pageCertificate } from './identity.ts'

const COMMANDS = ['system', 'secrets']
const argv = process.argv.slice(2)
const { settings } = settingsOrExit(
  'prepare: `system` configures network and firewall; `secrets` makes name, certificate and password',
  PREPARE_ENV,
  process.env,
  argv,
  { flags: COMMANDS },
)
const { SERVICE_SYSTEM_DIR: folder, SERVICE_RUN_DIR: runtime, SERVICE_WORKSPACE: workspace, SERVICE_TLS_DIR: tls } = settings
const name = join(folder, 'name')
const say = (text: string) => process.stdout.write(`${text}\n`)

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
  for (const { name: path, text } of networkUnits(system)) {
    const file = join(runtime, path)
    await makeFolder(dirname(file), READABLE_FOLDER)
    await replaceFile(file, text, READABLE)
  }
  await replaceFile(join(runtime, 'plenum.nft'), firewall(system), READABLE)
}
/** systemd's network service reads them as a user of its own. */
const READABLE = 0o644
const READABLE_FOLDER = 0o755

async function prepareSecrets(): Promise<void> {
  const host = await boxName({ name })
  const fingerprint = await pageCertificate({ tls }, host, Date.now())
  const password = await firstSecrets({ workspace })
  await firstSite({ workspace }, host)
  say(`Plenum: https://${host}.local/ certificate SHA-256 ${fingerprint}`)
  if (password !== undefined) say(`Plenum: sign in as admin with ${password} and keep it: it is not shown again`)
}

const commands = argv.filter(word => COMMANDS.includes(word))
for (const command of commands) await (command === 'system' ? prepareSystem() : prepareSecrets())
if (commands.length === 0) {
  process.stderr.write(`prepare: name one of ${COMMANDS.join(', ')}\n`)
  process.exitCode = 64
}

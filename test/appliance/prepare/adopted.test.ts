/** What prepares the start of a box, as a process, once the box belongs to a hub. */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { makePki, openPki } from '#shared/node/pki/pki-files.ts'
import { adoptKit } from '#appliance/kit/adopt-kit.ts'
import { folder } from '../../support/folders.ts'

const run = promisify(execFile)

test('a box that has adopted a kit starts again: what prepares it does not stumble over the settings of the appliance', async t => {
  const dir = folder(t)
  const at = (name: string) => join(dir, name)
  const env = {
    ...{ SERVICE_SYSTEM_DIR: at('system'), SERVICE_WORKSPACE: at('workspace'), SERVICE_TLS_DIR: at('tls') },
    SERVICE_SETTINGS_FILE: at('settings.env'),
  }
  writeFileSync(at('settings.env'), '')
  for (const name of ['system', 'tls']) mkdirSync(at(name))
  const secrets = () => run(process.execPath, ['appliance/prepare/main.ts', 'secrets'], { env: { ...process.env, ...env } })
  t.regex((await secrets()).stdout, /sign in as admin with /)
  await makePki(at('pki'), { name: 'Test', now: Date.now() })
  const pki = await openPki(at('pki'), Date.now)
  const kit = await pki.kit({ site_id: 'A', edge_id: 'box-1', broker_host: '10.0.0.1', broker_port: 8883 })
  await adoptKit(kit, { kit: at('kit'), workspace: at('workspace'), settings: at('settings.env') })
  t.regex((await secrets()).stdout, /^Plenum: https:\/\/plenum-/)
})

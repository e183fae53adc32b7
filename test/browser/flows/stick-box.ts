/** A hub and a box as processes, the commands that join them, and a USB stick between them, for flows that are walked to their end. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import type { ExecutionContext } from 'ava'
import { COMPILED } from '#scripts/lib-start/process.ts'
import { AUTH, configure, countingDevice, loopback, program } from '../../e2e/field-site.ts'
import { freeBase, temporaryFolder } from '../../e2e/run-start.ts'

export const ADMIN = 'admin-of-the-test'
const OWN = { ...AUTH, SERVICE_ADMIN_PASSWORD: ADMIN, SERVICE_CENTRAL_BIND: '127.0.0.1' }

/** @returns exit code and what the command printed */
function run(main: string, argv: string[], env: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...argv], {
    env: { PATH, HOME, ...COMPILED, ...env },
    encoding: 'utf8',
  })
  return { exit: status, text: stdout + stderr }
}

/** @param clock environment that changes the clock of hub and boxes */
export async function openFlow(t: ExecutionContext, clock: Record<string, string> = {}) {
  const [dir, base] = [await temporaryFolder(t), await freeBase(4)]
  const authority = join(dir, 'authority')
  const provision = (...argv: string[]) => run('provisioning/main.ts', [...argv, '--dir', authority])
  const done = (...argv: string[]) => {
    const { exit, text } = provision(...argv)
    t.is(exit, 0, `${argv.join(' ')}: ${text}`)
    return text
  }
  done('ca')
  done('broker', '--hosts', '127.0.0.1')
  done('central')
  const hub = program(t, 'hub', {
    main: 'hub/main.ts',
    url: loopback(base),
    logs: dir,
    env: {
      ...{ ...OWN, ...clock, SERVICE_CENTRAL_PORT: String(base), SERVICE_WORKSPACE: join(dir, 'hub') },
      ...{ SERVICE_MQTT_BIND: '127.0.0.1', SERVICE_MQTT_PORT: String(base + 1), SERVICE_MQTT_CERT_DIR: authority },
    },
  })
  const place = ['--site', 'demo', '--edge', 'edge-1', '--broker-host', '127.0.0.1', '--broker-port', String(base + 1)]
  return {
    dir,
    hub,
    provision,
    done,
    place,
    box: (name: string, n: number) => openBox(t, join(dir, name), { name, port: base + 1 + n, clock }),
  }
}

/** A box whose system is ours, as far as it needs no system: what `prepare` does at its start, with a stick, and the appliance. */
async function openBox(
  t: ExecutionContext,
  dir: string,
  { name, port, clock }: { name: string; port: number; clock: Record<string, string> },
) {
  const at = (part: string) => join(dir, part)
  for (const part of ['system', 'run', 'updates', 'network', 'workspace']) mkdirSync(at(part), { recursive: true })
  const places = {
    ...{
      SERVICE_SYSTEM_DIR: at('system'),
      SERVICE_RUN_DIR: at('run'),
      SERVICE_TLS_DIR: at('tls'),
      SERVICE_UPDATE_DIR: at('updates'),
    },
    ...{ SERVICE_EDGE_KIT_DIR: at('kit'), SERVICE_NETWORK_DIR: at('network'), SERVICE_WORKSPACE: at('workspace') },
    SERVICE_SETTINGS_FILE: at('settings.env'),
  }
  const device = await countingDevice(t)
  const prepare = (command: string, env: Record<string, string> = {}) =>
    run('appliance/prepare/main.ts', [command], { ...places, ...env })
  return {
    prepare,
    workspace: at('workspace'),
    /** Puts a stick in. @returns how the command ended, and the result that is on the stick then */
    takeStick(stick: string) {
      const { exit, text } = prepare('stick', { SERVICE_STICK_DIR: stick })
      const result = readdirSync(stick).find(file => file.startsWith('result-'))
      return { exit, text, result: result === undefined ? '' : readFileSync(join(stick, result), 'utf8') }
    },
    /** What the site is, and the device that the box reads. */
    configure: () => configure(at('workspace'), device.port),
    /** The appliance, with the settings that the stick has changed. */
    appliance: () =>
      program(t, name, {
        main: 'appliance/main.ts',
        url: loopback(port),
        logs: dir,
        env: {
          ...{ ...OWN, ...clock },
          ...(existsSync(at('settings.env'))
            ? (parseEnv(readFileSync(at('settings.env'), 'utf8')) as Record<string, string>)
            : {}),
          ...{ SERVICE_CENTRAL_PORT: String(port), SERVICE_WORKSPACE: at('workspace'), SERVICE_EDGE_STORE_DIR: at('store') },
          ...{ SERVICE_EDGE_KIT_DIR: at('kit'), SERVICE_BACNET_BIND: '127.0.0.1', SERVICE_BACNET_PORT: '0' },
        },
      }),
  }
}

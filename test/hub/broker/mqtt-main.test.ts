import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { connectAsync } from 'mqtt'
import { COMPILED } from '#scripts/lib-start/process.ts'
import { folder } from '../../support/folders.ts'
import { makeAuthority } from '../../support/sites/transport-site.ts'

const MAIN = new URL('../../../hub/mqtt/main.ts', import.meta.url).pathname
const start = (env: Record<string, string>, ...argv: string[]) =>
  spawn(process.execPath, [MAIN, ...argv], { env: { ...COMPILED, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })

/** What a start that fails says, and how it exits. */
async function said(env: Record<string, string>, ...argv: string[]) {
  const child = start(env, ...argv)
  const [error, [exit]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number]>])
  return { error, exit }
}

test('the broker process serves clients and stops on a signal', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(dir)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  const child = start({ SERVICE_MQTT_BIND: '127.0.0.1', SERVICE_MQTT_PORT: String(port), SERVICE_MQTT_CERT_DIR: dir })
  t.teardown(() => child.kill('SIGKILL'))
  for await (const line of child.stderr) if (String(line).includes('"msg":"running"')) break

  const {
    cert_pem: cert,
    key_pem: key,
    ca_pem: ca,
  } = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: port })
  const client = await connectAsync(
    `mqtts://127.0.0.1:${port}`,
    { cert, key, ca, clientId: 'edge:A:e1', reconnectPeriod: 0 },
    false,
  )
  client.on('error', () => undefined)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  t.deepEqual(await ended, [0, null])
  await client.endAsync(true)
})

test('invalid settings, missing certificates and a used port end the start with an error', async t => {
  const none = await said({ SERVICE_MQTT_CERT_DIR: join(folder(t), 'none') })
  t.is(none.exit, 78)
  t.regex(none.error, /SERVICE_MQTT_CERT_DIR: ENOENT.*ca\.cert\.pem/)
  const wrong = await said({ SERVICE_MQTT_PORT: '0', SERVICE_LOG_LEVEL: 'loud' }, '--fast')
  t.is(wrong.exit, 78)
  t.regex(wrong.error, /--fast.*\n.*SERVICE_MQTT_PORT.*\n.*SERVICE_LOG_LEVEL/)

  const dir = folder(t)
  await makeAuthority(dir)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  const { port } = server.address() as { port: number }
  const taken = await said({ SERVICE_MQTT_BIND: '127.0.0.1', SERVICE_MQTT_PORT: String(port), SERVICE_MQTT_CERT_DIR: dir })
  t.is(taken.exit, 1)
  t.regex(taken.error, /broker cannot start: listen EADDRINUSE/)
})

test('--mosquitto writes the configuration and the ACL of all valid certificates, and needs the list of the authority', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(dir)
  await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: 8883 })
  const env = { SERVICE_MQTT_BIND: '127.0.0.1', SERVICE_MQTT_PORT: '8884', SERVICE_MQTT_CERT_DIR: dir }
  const child = start(env, '--mosquitto')
  const [paths, [exit]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  t.is(exit, 0)
  t.is(paths, `${join(dir, 'mosquitto.conf')}\n${join(dir, 'mosquitto.acl')}\n`)
  t.regex(readFileSync(join(dir, 'mosquitto.conf'), 'utf8'), /^listener 8884 127\.0\.0\.1$/m)
  const users = readFileSync(join(dir, 'mosquitto.acl'), 'utf8').match(/^user .*$/gm)
  t.deepEqual(users, ['user central:*', 'user edge:A:e1'])
  const none = await said({ ...env, SERVICE_MQTT_CERT_DIR: folder(t) }, '--mosquitto')
  t.is(none.exit, 78)
  t.regex(none.error, /SERVICE_MQTT_CERT_DIR: .*issued\.json/)
})

/** A box that is restored through its API: killed after the confirmation, it starts as it was when the backup was made. */
import { join } from 'node:path'
import test from 'ava'
import { atLeast, AUTH, configure, countingDevice, loopback, program } from './field-site.ts'
import { freeBase, temporaryFolder } from './run-start.ts'

const ADMIN = 'admin-of-the-test'
const PASSPHRASE = 'a passphrase of the test'

test('a box that is killed after a restore was confirmed starts with the backup, and polls on', async t => {
  t.timeout(300_000)
  const [dir, base] = [await temporaryFolder(t), await freeBase(1)]
  const device = await countingDevice(t)
  await configure(join(dir, 'box'), device.port, 60)
  const box = program(t, 'appliance', {
    main: 'appliance/main.ts',
    url: loopback(base),
    logs: dir,
    env: {
      ...AUTH,
      SERVICE_ADMIN_PASSWORD: ADMIN,
      SERVICE_CENTRAL_BIND: '127.0.0.1',
      SERVICE_CENTRAL_PORT: String(base),
      SERVICE_SITE_ID: 'demo',
      SERVICE_WORKSPACE: join(dir, 'box'),
      SERVICE_EDGE_STORE_DIR: join(dir, 'store'),
      SERVICE_BACNET_BIND: '127.0.0.1',
      SERVICE_BACNET_PORT: '0',
    },
  })
  const call = async (method: string, path: string, body?: object | FormData) => {
    const login = await fetch(`${box.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password: ADMIN }),
    })
    const { token } = (await login.json()) as { token: string }
    const isForm = body instanceof FormData
    return fetch(box.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && !isForm && { 'content-type': 'application/json' }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    })
  }
  const nameOf8 = async () => {
    const { levels } = (await (await call('GET', '/api/site/priority-levels')).json()) as { levels: { name: string }[] }
    return levels[7]!.name
  }
  await box.start()
  await atLeast(box.url, 1)
  await call('PUT', '/api/site/priority-levels', { levels: [{ level: 8, name: 'Before' }] })
  const backup = await (await call('POST', '/api/backup', { passphrase: PASSPHRASE })).blob()
  await call('PUT', '/api/site/priority-levels', { levels: [{ level: 8, name: 'After' }] })
  const form = new FormData()
  form.set('passphrase', PASSPHRASE)
  form.set('file', backup, 'x.backup')
  const staged = await call('POST', '/api/restore', form)
  t.is(staged.status, 200, await staged.text())
  t.is((await call('POST', '/api/restore/confirm', { confirm: true })).status, 200)
  t.is(await nameOf8(), 'After', 'nothing is replaced while it runs')
  await box.kill()
  await box.start()
  t.is(await nameOf8(), 'Before')
  const { restore } = (await (await call('GET', '/api/restore')).json()) as { restore: { phase: string } }
  t.is(restore.phase, 'done')
  await atLeast(box.url, 1)
})

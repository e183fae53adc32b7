/** An update on its way from a form to the folder that the system of the box watches, over real HTTP. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { problemPages } from '#shared/central/pages/login.route.ts'
import { createPageLayout } from '#shared/central/pages/create-layout.ts'
import { pageRoutes } from '#shared/central/pages/routes.ts'
import { openHttp } from '#shared/node/http/server.ts'
import { systemRoutes } from '#appliance/system/system.routes.ts'
import { PUBLISHER_OFF } from '#appliance/services/publisher.ts'
import { openUpdates } from '#appliance/system/updates.ts'
import { folder } from '../../support/folders.ts'
import { signedIn } from '../../support/signed-in.ts'
import { openBoxCentral, PASSWORDS } from '../../support/sites/box-central.ts'
import { SILENT } from '../../support/sites/catalogue-site.ts'

const STATE = {
  state: 'rolled_back',
  version: '1.2.0+0123456789ab',
  slot: 'A',
  reason: 'no <page> for five minutes',
  at: '2026-01-02T03:04:05Z',
  log: ['starts', 'cannot open <file>'],
}

async function openBox(t: ExecutionContext) {
  const workspace = mkdtempSync(join(tmpdir(), 'plenum-system-'))
  const updateFolder = folder(t)
  const { context, services, routes } = await openBoxCentral(workspace)
  const layout = createPageLayout(context, { product: 'appliance', name: 'School box', first: 'Home', more: [] })
  const updates = openUpdates(updateFolder)
  const http = await openHttp({
    ...{ name: 'box', host: '127.0.0.1', port: 0, log: SILENT, version: context.version, trustedProxies: [] },
    routes: [
      ...routes,
      ...pageRoutes(context, layout),
      ...systemRoutes({ updates, hubState: () => PUBLISHER_OFF, context, layout }),
    ],
    auth: context.auth,
    audit: context.audit,
    problemPage: problemPages(layout),
  })
  const running = [...services, http]
  for (const service of running) await service.start()
  t.teardown(async () => {
    for (const service of running.toReversed()) await service.stop()
    rmSync(workspace, { recursive: true, force: true })
  })
  const { token } = await context.auth.login('admin', PASSWORDS.admin, '127.0.0.1')
  const send = (form: FormData) =>
    fetch(`${http.url()}/api/system/update`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: form })
  const last = async () =>
    (await (await fetch(`${http.url()}/api/system/update`, { headers: { authorization: `Bearer ${token}` } })).json()) as any
  return { url: http.url(), updateFolder, send, last }
}

function formOf(fields: Record<string, string>, bytes: Uint8Array): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), 'plenum.raucb')
  return form
}
const BYTES = Uint8Array.from({ length: 3_000_000 }, (_, index) => (index * 7) % 251)
const SMALL = BYTES.subarray(0, 100)

test('a sent update lies whole in the folder before the system is asked to install it', async t => {
  const { updateFolder, send, last } = await openBox(t)
  t.is((await last()).last, null)
  t.is((await send(formOf({}, BYTES))).status, 200)
  t.true(readFileSync(join(updateFolder, 'bundle.raucb')).equals(BYTES))
  t.is(readFileSync(join(updateFolder, 'install'), 'utf8'), 'newer\n')
  t.deepEqual(readdirSync(updateFolder).toSorted(), ['bundle.raucb', 'install'])
  const second = await send(formOf({}, SMALL))
  t.is(second.status, 409)
  t.regex(((await second.json()) as any).detail, /under way/)
})

test('an older version is asked for in words', async t => {
  const { updateFolder, send } = await openBox(t)
  t.is((await send(formOf({ force: '1' }, BYTES))).status, 200)
  t.is(readFileSync(join(updateFolder, 'install'), 'utf8'), 'force\n')
})

test('a form without a file, with an unknown field, or cut off leaves nothing behind', async t => {
  const { updateFolder, send, url } = await openBox(t)
  const empty = new FormData()
  empty.append('force', '1')
  t.is((await send(empty)).status, 400)
  t.is((await send(formOf({ slot: 'B' }, SMALL))).status, 400)
  const { token } = (await (
    await fetch(`${url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password: PASSWORDS.admin }),
    })
  ).json()) as { token: string }
  const head =
    '--x\r\ncontent-disposition: form-data; name="file"; filename="a.raucb"\r\ncontent-type: application/octet-stream\r\n\r\n'
  const cut = await fetch(`${url}/api/system/update`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=x' },
    body: `${head}half of it`,
  })
  t.is(cut.status, 400)
  t.deepEqual(readdirSync(updateFolder), [])
})

test('the page tells what became of the last update, as text, and takes the next one', async t => {
  const { updateFolder, url, last } = await openBox(t)
  writeFileSync(join(updateFolder, 'state.json'), JSON.stringify(STATE))
  t.deepEqual((await last()).last, STATE)
  const admin = await signedIn(url, 'admin', PASSWORDS.admin)
  const page = await (await admin.get('/system')).text()
  t.regex(page, /1\.2\.0\+0123456789ab<\/code> did not become healthy, and the version before is back/)
  t.true(page.includes('no &lt;page&gt; for five minutes'))
  t.true(page.includes('starts\ncannot open &lt;file&gt;</pre>'))
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)![1]!
  t.is((await admin.send('/system', formOf({ csrf: 'x' }, SMALL))).status, 403)
  t.false(existsSync(join(updateFolder, 'install')))
  const sent = await admin.send('/system', formOf({ csrf }, BYTES))
  t.is(sent.status, 303)
  t.true(existsSync(join(updateFolder, 'install')))
  const viewer = await signedIn(url, 'viewer', PASSWORDS.viewer)
  t.false((await (await viewer.get('/system')).text()).includes('type="file"'))
})

test('a record that is broken or of another form is none, and an update that is on trial admits no other', async t => {
  const path = folder(t)
  const updates = openUpdates(path)
  for (const text of ['{"state":', '{"state":"lost"}', '[]']) {
    writeFileSync(join(path, 'state.json'), text)
    t.is(updates.state(), undefined)
  }
  writeFileSync(join(path, 'state.json'), JSON.stringify({ ...STATE, state: 'trying' }))
  await t.throwsAsync(updates.begin(1), { message: /1\.2\.0\+0123456789ab has started and is not confirmed/ })
})

test('a file that does not fit is refused before it is read, and another system takes none', async t => {
  const updates = openUpdates(folder(t))
  await t.throwsAsync(
    updates.receive(() => Promise.reject(new Error('it was read')), { bytes: 2 ** 50, force: false }),
    { message: /must stay free/ },
  )
  t.false(openUpdates(undefined).isAvailable)
  await t.throwsAsync(openUpdates(undefined).begin(1), { message: /does not run on a system that it can update/ })
})

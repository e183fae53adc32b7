import test, { type ExecutionContext } from 'ava'
import pino from 'pino'
import type { RestoreOptions } from '#shared/central/backup/restores.ts'
import { Problem } from '#shared/core/problem.ts'
import { applyRestore } from '#shared/node/backup/apply-restore.ts'
import { parquetRootIn } from '#shared/node/historian/folder.ts'
import { folder } from '../../../support/folders.ts'
import { importer } from '../../../support/packages/importer.ts'
import { airHandler, rows, table } from '../../../support/packages/packages.ts'
import { PASSWORDS, startCentral, type TestCentral } from '../../../support/sites/central-site.ts'
import { RESTORE_ANSWER, RESTORE_STATE } from '#shared/central/api/schemas/restore-schemas.ts'
import { Value } from '@sinclair/typebox/value'
import { Ajv2020 } from 'ajv/dist/2020.js'

const ajv = new Ajv2020({ strict: false, validateFormats: false })

const PASSPHRASE = 'a passphrase of the test'
const RESTORE = { site_id: 'site-1', isNew: false, refuse: () => undefined }

async function tokenOf(site: TestCentral): Promise<string> {
  const login = await site.call('nobody', 'POST', '/api/auth/login', { username: 'admin', password: PASSWORDS.admin })
  return `Bearer ${login.body.token}`
}
async function download(site: TestCentral): Promise<Buffer> {
  const headers = { authorization: await tokenOf(site), 'content-type': 'application/json' }
  const body = JSON.stringify({ passphrase: PASSPHRASE })
  const answer = await fetch(`${site.url}/api/backup`, { method: 'POST', headers, body })
  return Buffer.from(await answer.arrayBuffer())
}
async function upload(site: TestCentral, bytes: Buffer, passphrase = PASSPHRASE) {
  const form = new FormData()
  form.set('passphrase', passphrase)
  form.set('file', new Blob([Uint8Array.from(bytes)]), 'x.backup')
  const headers = { authorization: await tokenOf(site) }
  const answer = await fetch(`${site.url}/api/restore`, { method: 'POST', headers, body: form })
  return { status: answer.status, body: (await answer.json()) as any }
}
/** A new workspace; `open` starts central over it, as each start of the process does. */
function workspaceOf(t: ExecutionContext, restore: RestoreOptions = RESTORE) {
  const workspace = folder(t)
  const open = () => startCentral({ workspace, restore })
  return { workspace, open }
}

test('a backup is uploaded, shown, confirmed, and in place after the next start, with an audit row', async t => {
  const from = await startCentral()
  t.teardown(from.close)
  await importer(() => from).imported(airHandler(table(rows(2_000))))
  const bytes = await download(from)
  const { workspace, open } = workspaceOf(t)
  const site = await open()
  const state = (await site.call('admin', 'GET', '/api/restore')).body
  t.is(state.restore, null)
  t.true(ajv.validate(RESTORE_STATE, state), ajv.errorsText())
  const wrong = await upload(site, bytes, 'not the passphrase')
  t.deepEqual([wrong.status, wrong.body.detail], [422, 'the passphrase is wrong, or the beginning of the backup is damaged'])
  const staged = await upload(site, bytes)
  t.is(staged.status, 200, JSON.stringify(staged.body))
  t.like(staged.body.restore, { phase: 'staged', about: { site_id: 'site-1' }, holds: { buildings: 1, equipment: 1 } })
  t.is((await site.call('admin', 'GET', '/api/restore')).body.present.buildings, 0)
  const confirmed = (await site.call('admin', 'POST', '/api/restore/confirm', { confirm: true })).body
  t.is(confirmed.restore.confirmed_by, 'admin')
  for (const answer of [staged.body, confirmed]) {
    t.true(ajv.validate(RESTORE_ANSWER, answer), ajv.errorsText())
    t.deepEqual(Value.Clean(RESTORE_ANSWER, structuredClone(answer)), answer, 'and nothing that is not stated')
  }
  t.is((await upload(site, bytes)).status, 409, 'what is confirmed is not exchanged unseen')
  t.is((await site.call('admin', 'GET', '/api/model/buildings')).body.buildings.length, 0, 'nothing is replaced yet')
  await site.close()

  await applyRestore({ workspace, parquetRoot: parquetRootIn(workspace) }, pino({ level: 'silent' }))
  const again = await open()
  t.teardown(again.close)
  const point_ids = (await again.call('viewer', 'GET', '/api/model/points?building_id=b1')).body.points.map(
    ({ point_id }: { point_id: string }) => point_id,
  )
  const span = { building_id: 'b1', point_ids, from: 0, to: 4e12 }
  const [restored, original] = [await again.central.historian.read(span), await from.central.historian.read(span)]
  t.true(original[0]!.ts.length >= 2000)
  t.deepEqual(restored, original)
  t.is((await again.call('admin', 'GET', '/api/restore')).body.restore.phase, 'done')
  const [row] = again.central.stores.audit.list({ limit: 1, action: 'restore' })
  t.like(row, { actor: 'admin', subject: 'site-1', after: { about: { site_id: 'site-1' } } })
})

test('a backup of another site is refused by name, except by a box that nobody has set up', async t => {
  const from = await startCentral()
  t.teardown(from.close)
  const bytes = await download(from)
  const opened = async (restore: RestoreOptions) => {
    const site = await workspaceOf(t, restore).open()
    t.teardown(site.close)
    return site
  }
  const other = await opened({ ...RESTORE, site_id: 'elsewhere' })
  const refused = await upload(other, bytes)
  t.deepEqual([refused.status, refused.body.detail], [422, 'The backup is of site site-1, this is site elsewhere'])
  t.is((await other.call('admin', 'POST', '/api/restore/confirm', { confirm: true })).status, 409)
  const fresh = await opened({ ...RESTORE, site_id: 'local', isNew: true })
  t.is((await upload(fresh, bytes)).status, 200)
  t.is((await fresh.call('admin', 'DELETE', '/api/restore')).status, 200)
  t.is((await fresh.call('admin', 'GET', '/api/restore')).body.restore, null)
  const refuse = () => {
    throw new Problem('invalid', 'The backup is of a hub, and this is a box')
  }
  t.is((await upload(await opened({ ...RESTORE, refuse }), bytes)).body.detail, 'The backup is of a hub, and this is a box')
})

test('of two uploads at once one is checked, and the other is told to wait', async t => {
  const from = await startCentral()
  t.teardown(from.close)
  const bytes = await download(from)
  const site = await workspaceOf(t).open()
  t.teardown(site.close)
  const answers = await Promise.all(Array.from({ length: 4 }, () => upload(site, bytes)))
  const statuses = answers.map(({ status }) => status)
  t.true(statuses.includes(200), JSON.stringify(answers))
  t.true(statuses.every(status => status === 200 || status === 409))
  t.is((await site.call('admin', 'GET', '/api/restore')).body.restore.phase, 'staged')
})

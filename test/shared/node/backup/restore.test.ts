import { createWriteStream, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import test, { type ExecutionContext } from 'ava'
import { pack } from 'tar-stream'
import { packBackup } from '#shared/node/backup/archive.ts'
import { encrypt } from '#shared/node/backup/encryption.ts'
import { restoreBackup } from '#shared/node/backup/restore.ts'
import { folder } from '../../../support/folders.ts'

const PASSPHRASE = 'a passphrase of the test'
const ABOUT = { version: '1.2.3+abc', site_id: 'plant', created_at: '2026-11-20T12:00:00Z' }
const NAMES = [
  'plenum.db',
  'parquet/history.id',
  'parquet/building_id=b%2F1/month=2026-11/00000001-000.parquet',
  'config/platform.json',
]

/** A backup of four files whose text is their name. */
async function backupFile(t: ExecutionContext, names = NAMES): Promise<{ dir: string; file: string }> {
  const dir = folder(t)
  const files = names.map((name, i) => {
    const path = join(dir, String(i))
    writeFileSync(path, name)
    return { name, path, bytes: Buffer.byteLength(name) }
  })
  const file = join(dir, 'x.backup')
  await pipeline(packBackup(ABOUT, files, PASSPHRASE), createWriteStream(file))
  return { dir, file }
}

/** An archive that no product of ours would write. */
async function foreign(
  t: ExecutionContext,
  entries: { name: string; text?: string; type?: 'symlink' | 'directory' }[],
): Promise<string> {
  const archive = pack()
  const about = { format: 1, ...ABOUT, files: entries.length }
  archive.entry({ name: 'backup.json' }, JSON.stringify(about))
  for (const { name, text = '', type } of entries) {
    if (type) archive.entry({ name, type, linkname: '/etc/passwd' })
    else archive.entry({ name }, text)
  }
  archive.finalize()
  const file = join(folder(t), 'foreign.backup')
  await pipeline(encrypt(archive as AsyncIterable<Uint8Array>, PASSPHRASE), createWriteStream(file))
  return file
}

test('each file is restored at its place, for the owner alone', async t => {
  const { dir, file } = await backupFile(t)
  const workspace = join(dir, 'new', 'workspace')
  t.deepEqual(await restoreBackup(file, PASSPHRASE, workspace), { format: 1, ...ABOUT, files: 4 })
  const places = [
    'plenum.db',
    '.cache/parquet/history.id',
    '.cache/parquet/building_id=b%2F1/month=2026-11/00000001-000.parquet',
    'config/platform.json',
  ]
  for (const [i, place] of places.entries()) {
    t.is(readFileSync(join(workspace, place), 'utf8'), NAMES[i]!)
    t.is(statSync(join(workspace, place)).mode & 0o777, 0o600, place)
  }
  t.false(existsSync(join(workspace, '.restoring')))
})

test('a folder that holds anything is not touched; that of an empty disk and that of an interrupted restore are used', async t => {
  const { dir, file } = await backupFile(t)
  const taken = join(dir, 'taken')
  mkdirSync(taken)
  writeFileSync(join(taken, 'plenum.db'), 'in use')
  await t.throwsAsync(restoreBackup(file, PASSPHRASE, taken), {
    name: 'BackupError',
    message: /taken is not empty \(it holds plenum\.db\)/,
  })
  t.is(readFileSync(join(taken, 'plenum.db'), 'utf8'), 'in use')

  const disk = join(dir, 'disk')
  mkdirSync(join(disk, 'lost+found'), { recursive: true })
  mkdirSync(join(disk, '.restoring', 'config'), { recursive: true })
  writeFileSync(join(disk, '.restoring', 'plenum.db'), 'half')
  mkdirSync(join(disk, 'config'))
  await restoreBackup(file, PASSPHRASE, disk)
  t.is(readFileSync(join(disk, 'plenum.db'), 'utf8'), 'plenum.db')
})

test('a restore that fails leaves no database', async t => {
  const { dir, file } = await backupFile(t)
  const whole = readFileSync(file)
  writeFileSync(file, whole.subarray(0, whole.length - 3))
  const workspace = join(dir, 'w')
  await t.throwsAsync(restoreBackup(file, PASSPHRASE, workspace), { name: 'BackupError' })
  await t.throwsAsync(restoreBackup(file, 'not the passphrase', workspace), { message: /passphrase is wrong/ })
  t.false(existsSync(join(workspace, 'plenum.db')))
  writeFileSync(file, whole)
  await restoreBackup(file, PASSPHRASE, workspace)
  t.is(readFileSync(join(workspace, 'plenum.db'), 'utf8'), 'plenum.db')
})

test('entries that would leave the folder, links and folders are refused', async t => {
  const names = [
    '../plenum.db',
    '/etc/passwd',
    'config/../../x',
    'config/sub/x.json',
    'parquet/building_id=../month=2026-01/1-1.parquet',
    'x',
  ]
  for (const name of names) {
    const into = join(folder(t), 'w')
    const file = await foreign(t, [{ name, text: 'x' }])
    await t.throwsAsync(restoreBackup(file, PASSPHRASE, into), { message: `${name} does not belong into a backup` })
  }
  for (const type of ['symlink', 'directory'] as const) {
    const file = await foreign(t, [{ name: 'config/x.json', type }])
    await t.throwsAsync(restoreBackup(file, PASSPHRASE, join(folder(t), 'w')), { message: /is no ordinary file/ })
  }
})

test('an archive without the database, with an entry twice, or with fewer files than it states is refused', async t => {
  const restored = async (file: string) => restoreBackup(file, PASSPHRASE, join(folder(t), 'w'))
  await t.throwsAsync(restored((await backupFile(t, ['config/x.json'])).file), { message: 'the backup has no plenum.db' })
  await t.throwsAsync(restored(await foreign(t, [{ name: 'plenum.db' }, { name: 'plenum.db' }])), { code: 'EEXIST' })
  const { file } = await backupFile(t, [])
  await t.throwsAsync(restored(file), { message: 'the backup has no plenum.db' })
})

import { buffer } from 'node:stream/consumers'
import { randomBytes } from 'node:crypto'
import test from 'ava'
import { decrypt, encrypt } from '#shared/node/backup/encryption.ts'

const PASSPHRASE = 'correct horse battery'
const HEADER = 28
const CHUNK = 64 * 1024 + 16

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const sealed = (text: Buffer, passphrase = PASSPHRASE) => buffer(encrypt(inPieces(text, 10_000), passphrase))
const opened = (file: Buffer, passphrase = PASSPHRASE) => buffer(decrypt(inPieces(file, 7_777), passphrase))

test('what is encrypted is read back, whatever its length', async t => {
  for (const length of [0, 1, 65_535, 65_536, 65_537, 131_072, 300_001]) {
    const text = randomBytes(length)
    const file = await sealed(text)
    t.is(file.length, HEADER + length + 16 * Math.max(1, Math.ceil(length / 65_536)), String(length))
    t.true(text.equals(await opened(file)), String(length))
  }
})

test('the same text is encrypted differently each time', async t => {
  const text = Buffer.from('a site')
  t.notDeepEqual(await sealed(text), await sealed(text))
})

test('a passphrase typed with composed or decomposed letters is one passphrase', async t => {
  const file = await sealed(Buffer.from('x'), 'Grünstraße Süd'.normalize('NFC'))
  t.is((await opened(file, 'Grünstraße Süd'.normalize('NFD'))).toString(), 'x')
})

test('a wrong passphrase, another file and an empty file are refused', async t => {
  const file = await sealed(Buffer.from('text'))
  await t.throwsAsync(opened(file, 'another passphrase'), { name: 'BackupError', message: /passphrase is wrong/ })
  await t.throwsAsync(opened(Buffer.from('PK\x03\x04 a zip that is long enough')), { message: 'the file is no backup' })
  await t.throwsAsync(opened(Buffer.alloc(0)), { message: 'the file is no backup' })
  await t.throwsAsync(opened(file.subarray(0, 20)), { message: 'the backup is cut off' })
})

test('a file that was cut off, changed, reordered or extended gives no byte of what is wrong', async t => {
  const text = randomBytes(200_000)
  const file = await sealed(text)
  const chunk = (n: number) => file.subarray(HEADER + n * CHUNK, HEADER + (n + 1) * CHUNK)
  const header = file.subarray(0, HEADER)
  const damaged = { name: 'BackupError', message: /damaged/ }
  for (const length of [HEADER, HEADER + CHUNK, HEADER + 2 * CHUNK, HEADER + 2 * CHUNK + 5, file.length - 1]) {
    await t.throwsAsync(opened(file.subarray(0, length)), { name: 'BackupError' }, String(length))
  }
  for (const at of [12, HEADER, HEADER + 100, HEADER + CHUNK - 1, HEADER + CHUNK + 3, file.length - 1]) {
    const changed = Buffer.from(file)
    changed[at]! ^= 1
    await t.throwsAsync(opened(changed), { name: 'BackupError' }, String(at))
  }
  await t.throwsAsync(opened(Buffer.concat([header, chunk(1), chunk(0), chunk(2), chunk(3)])), damaged)
  await t.throwsAsync(opened(Buffer.concat([header, chunk(0), chunk(2), chunk(3)])), damaged)
  await t.throwsAsync(opened(Buffer.concat([file, Buffer.alloc(1)])), damaged)
})

test('the error of a damaged chunk names its first byte', async t => {
  const file = Buffer.from(await sealed(randomBytes(200_000)))
  file[HEADER + 2 * CHUNK + 9]! ^= 1
  await t.throwsAsync(opened(file), { message: new RegExp(`at byte ${HEADER + 2 * CHUNK} `) })
})

test('a header of another version, or one that asks for too much memory, is refused', async t => {
  const file = await sealed(Buffer.from('text'))
  const withByte = (at: number, value: number) =>
    Buffer.concat([file.subarray(0, at), Buffer.from([value]), file.subarray(at + 1)])
  await t.throwsAsync(opened(withByte(8, 2)), { message: /has format 2, this program reads format 1/ })
  for (const [at, value] of [
    [9, 0],
    [9, 21],
    [9, 255],
    [10, 0],
    [10, 9],
    [11, 0],
    [11, 17],
  ] as const) {
    await t.throwsAsync(opened(withByte(at, value)), { message: 'the header of the backup is damaged' }, `${at} ${value}`)
  }
})

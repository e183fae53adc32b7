import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { PackageReport } from '#shared/core/csv/package-report.ts'
import { importSessions } from '#shared/central/import/sessions.ts'
import { folder } from '../../../support/folders.ts'

const MAX = 100_000

/** Uploads one file after the other, a second apart, into sessions that have `MAX` bytes. @returns which of them are left */
async function leftOf(t: ExecutionContext, ...uploads: number[]): Promise<number[]> {
  const at = folder(t)
  let now = 0
  const sessions = importSessions(at, () => now, MAX)
  const ids: string[] = []
  for (const bytes of uploads) {
    now += 1000
    const { session_id, upload } = await sessions.open()
    writeFileSync(join(upload, 'table.csv'), Buffer.alloc(bytes))
    await sessions.save({ session_id, files: [], report: {} as PackageReport, plan: undefined })
    ids.push(session_id)
  }
  const left = new Set(readdirSync(at))
  return ids.flatMap((id, i) => (left.has(id) ? [i] : []))
}

test('packages that wait stay until they take more than their space; then the oldest give way to another', async t => {
  t.deepEqual(await leftOf(t, 40_000, 40_000, 1000), [0, 1, 2])
  t.deepEqual(await leftOf(t, 40_000, 40_000, 40_000, 1000), [1, 2, 3])
})

test('a package that is larger than the space of all stays until another has come after it', async t => {
  t.deepEqual(await leftOf(t, 2 * MAX), [0])
  t.deepEqual(await leftOf(t, 1000, 2 * MAX, 1000), [1, 2])
  t.deepEqual(await leftOf(t, 2 * MAX, 1000, 1000), [1, 2])
})

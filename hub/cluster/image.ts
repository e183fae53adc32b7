/** The hub's database as PostgreSQL keeps it: its pages, always those of one commit. */
import { closeSync, fsyncSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { syncFolder } from '#shared/node/files.ts'

const TABLES = `
  CREATE TABLE IF NOT EXISTS plenum_pages (page integer PRIMARY KEY, content bytea NOT NULL);
  CREATE TABLE IF NOT EXISTS plenum_image (
    only_row integer PRIMARY KEY CHECK (only_row = 1), page_size integer NOT NULL, pages integer NOT NULL)`
/** Pages of one statement. */
const AT_ONCE = 1_000

type Image = { page_size: number; pages: number }

export async function createTables(pool: Pool): Promise<void> {
  await pool.query(TABLES)
}

/** Pages to store, by page number from 1, and the length of the database after them, in pages. */
export type Pages = { pages: Iterable<[number, Buffer]>; length: number }

/** Stores pages inside the transaction of the caller. */
export async function storePages(client: PoolClient, { pages, length }: Pages, pageSize: number): Promise<void> {
  const store = (some: [number, Buffer][]) =>
    client.query(
      `INSERT INTO plenum_pages SELECT * FROM unnest($1::integer[], $2::bytea[])
       ON CONFLICT (page) DO UPDATE SET content = excluded.content`,
      [some.map(([page]) => page), some.map(([, content]) => content)],
    )
  let some: [number, Buffer][] = []
  for (const each of pages) {
    if (some.push(each) < AT_ONCE) continue
    await store(some)
    some = []
  }
  await store(some)
  await client.query('DELETE FROM plenum_pages WHERE page > $1', [length])
  await client.query(
    `INSERT INTO plenum_image VALUES (1, $1, $2)
     ON CONFLICT (only_row) DO UPDATE SET page_size = excluded.page_size, pages = excluded.pages`,
    [pageSize, length],
  )
}

/**
 * Writes the database to `path`, in place of one that is there.
 *
 * @returns false when PostgreSQL has none yet: what is at `path` then stays
 * @throws Error when pages are missing
 */
export async function restoreImage(pool: Pool, path: string): Promise<boolean> {
  const image = (await pool.query<Image>('SELECT page_size, pages FROM plenum_image')).rows[0]
  if (!image) return false
  const temporary = `${path}.tmp`
  const file = openSync(temporary, 'w', 0o600)
  try {
    for (let from = 1; from <= image.pages; from += AT_ONCE) {
      const { rows } = await pool.query<{ page: number; content: Buffer }>(
        'SELECT page, content FROM plenum_pages WHERE page >= $1 AND page < $2 ORDER BY page',
        [from, Math.min(from + AT_ONCE, image.pages + 1)],
      )
      for (const [i, { page, content }] of rows.entries()) {
        if (page !== from + i || content.length !== image.page_size) throw new Error(`page ${from + i} of the copy is not whole`)
        writeSync(file, content, 0, content.length, (page - 1) * image.page_size)
      }
      if (rows.length !== Math.min(AT_ONCE, image.pages + 1 - from))
        throw new Error(`page ${from + rows.length} of the copy is missing`)
    }
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
  await rename(temporary, path)
  syncFolder(dirname(path))
  return true
}

/** @returns the pages of the file at `path`, whose log is empty, that PostgreSQL does not have as they are */
export async function differingPages(pool: Pool, path: string, pageSize: number): Promise<Pages> {
  const { rows } = await pool.query<{ page: number; md5: string }>('SELECT page, md5(content) AS md5 FROM plenum_pages')
  const known = new Map(rows.map(({ page, md5 }) => [page, md5]))
  const length = statSync(path).size / pageSize
  return { pages: { [Symbol.iterator]: () => unlike(known, path, pageSize, length) }, length }
}

function* unlike(known: Map<number, string>, path: string, pageSize: number, length: number): Generator<[number, Buffer]> {
  const file = openSync(path, 'r')
  try {
    for (let page = 1; page <= length; page++) {
      const content = Buffer.allocUnsafe(pageSize)
      readSync(file, content, 0, pageSize, (page - 1) * pageSize)
      if (createHash('md5').update(content).digest('hex') !== known.get(page)) yield [page, content]
    }
  } finally {
    closeSync(file)
  }
}

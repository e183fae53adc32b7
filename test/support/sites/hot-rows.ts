import { HotChunk } from '#shared/node/historian/hot/chunk.ts'
import type { Database } from '#shared/node/sqlite.ts'

/** Makes the view `hot_rows` of this connection: a row for each sample that is not sealed yet, `value` NULL where there is none. */
export function withHotRows(db: Database): Database {
  db.function('chunk_rows', { deterministic: true }, (data: unknown) => JSON.stringify(new HotChunk(data as Buffer).rows()))
  db.exec(`CREATE TEMP VIEW IF NOT EXISTS hot_rows AS
    SELECT building, json_extract(row.value, '$.point') AS point, minute * 60000 + json_extract(row.value, '$.ms') AS ts,
      json_extract(row.value, '$.value') AS value, json_extract(row.value, '$.quality') AS quality, epoch
    FROM hot_chunks, json_each(chunk_rows(data)) AS row`)
  return db
}

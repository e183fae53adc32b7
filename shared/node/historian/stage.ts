import { makeFolder } from '../files.ts'
import { type Duck, sqlText } from './duck.ts'
import { stageFile, stageFolder } from './folder.ts'

/** Rows of a package in the order in which they arrived. Only the load reads them. */
export type StageInput = {
  /** Folder below the scratch folder, one for each load. */
  folder: string
  /** Number of the batch, from 0. */
  n: number
  /** [rows] index of the point in the load's list of points. */
  point: Float64Array
  ts: Float64Array
  values: Float64Array
}

/** Writes one batch to the staging folder. */
export async function stageRows(duck: Duck, root: string, { folder, n, point, ts, values }: StageInput): Promise<void> {
  await makeFolder(stageFolder(root, folder))
  await duck.run('CREATE OR REPLACE TEMP TABLE batch (point DOUBLE, ts DOUBLE, value DOUBLE)')
  await duck.append('batch', [point, ts, values])
  await duck.run(
    `COPY (SELECT point::INTEGER AS point, ts::BIGINT AS ts, if(isnan(value), NULL, value) AS value, ${n} AS batch, rowid AS row FROM batch)
     TO ${sqlText(stageFile(root, folder, n))} (FORMAT parquet)`,
  )
}

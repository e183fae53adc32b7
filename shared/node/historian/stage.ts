import { makeFolder } from '../files.ts'
import { type Duck, sqlText } from './duck.ts'
import { stageFile, stageFolder } from './folder.ts'

/** Rows of a package on their way in, in the order in which they came. Nobody reads them but the load. */
export type StageInput = {
  /** Below the scratch folder; one for each load. */
  folder: string
  /** Number of the batch, from 0. */
  n: number
  /** [rows] which point, as an index into the load's list of points. */
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

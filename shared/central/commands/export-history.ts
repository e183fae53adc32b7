/** History as a package, which the page Import and the API both send. */
import type { Readable } from 'node:stream'
import { needBuilding } from '#shared/core/lookup.ts'
import { exportPackage } from '#shared/flow/export-package.ts'
import { zipStream } from '#shared/node/zip.ts'
import { readMoment } from '#shared/central/analytics/span.ts'
import type { CentralParts } from '#shared/central/context.ts'

/** `from` and `to` are instants, or days of the building at their beginning; all there is without them. */
type HistoryAsked = { building_id: string; equipment_id?: string; from?: string; to?: string }

/** @throws Problem unknown_building, unknown_equipment; bad_request for what is no instant; invalid where nothing or too much is stored */
export async function historyZip(
  context: Pick<CentralParts, 'model' | 'historian'>,
  { building_id, equipment_id, from, to }: HistoryAsked,
): Promise<{ filename: string; stream: Readable }> {
  const building = needBuilding(context.model, building_id)
  const files = await exportPackage(
    {
      building_id,
      ...(equipment_id !== undefined && { equipment_id }),
      ...(from !== undefined && { from: readMoment('from', from, building) }),
      ...(to !== undefined && { to: readMoment('to', to, building) }),
    },
    context,
  )
  return {
    filename: `${building_id}${equipment_id === undefined ? '' : `-${equipment_id}`}-history.zip`,
    stream: zipStream(files),
  }
}

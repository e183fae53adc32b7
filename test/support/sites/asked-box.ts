/** A box whose log and diagnostics a hub asks for in the same process, with lines that a device or a person may have caused. */
import pino from 'pino'
import { inspectionService } from '#appliance/system/inspection-service.ts'
import type { EdgeConnectors } from '#hub/connectors/connectors.ts'
import { openSite } from './page-site.ts'

export async function openAskedBox() {
  const box = await openSite({ product: 'appliance' })
  const { inspection } = box.context
  inspection.log = pino(
    { base: { name: 'box' }, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => inspection.recent.add(line) },
  )
  for (let i = 1; i <= 250; i++) inspection.log.info({ device: `vav-${i}` }, `device ${i} answers again`)
  inspection.log.warn({ device: '<img src=x onerror=alert(1)>' }, 'device does not answer: trying again <b>later</b>')
  inspection.log.error({ err: { code: 'ENOSPC' } }, 'write queue full: dropping oldest readings')
  const { ask } = inspectionService(() => box.context, Date.now)
  const asked: string[] = []
  const connectors = {
    nameOf: ({ edge_id }) => edge_id,
    ask: (_edge, operation, request) => {
      asked.push(operation)
      return ask(operation as 'log', request as object) as never
    },
  } as EdgeConnectors
  return { box, connectors, asked }
}

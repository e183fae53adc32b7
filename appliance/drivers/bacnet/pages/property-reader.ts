/** Reads properties of one BACnet object for an operator, in turn with polling. Nothing writes. */
import { readObjectName } from '#shared/core/bacnet/object-name.ts'
import { parseTarget, type Target } from '#shared/core/bacnet/object.ts'
import { Problem } from '#shared/core/problem.ts'
import { formatError, formatRefusal, UNKNOWN_OBJECT, UNKNOWN_PROPERTY } from '../core/refusal.ts'
import { usualProperties, propertyNumber } from '../core/property-names.ts'
import { READ_PROPERTY } from '../core/reply.ts'
import type { BacnetValue } from '../core/tag.ts'
import { withFewRetries } from '../outcome.ts'
import { type BacnetProtocol, connectionOf } from '../protocol.ts'
import type { DeviceCatalogue, DeviceEntry } from '../../../store/catalogue-schema.ts'

export type PropertySources = { catalogue: () => DeviceCatalogue; bacnet: Pick<BacnetProtocol, 'borrow'> }

/** `object`: `analog-input,3` or `AI-3`. `property`: by its name or number; those that most objects have when undefined. */
export type AskedProperties = { device_id: string; object: string; property?: string | undefined }
type ReadProperty = { property: number } & ({ values: BacnetValue[] } | { error: string })
export type PropertiesRead = {
  device: DeviceEntry
  object: string
  properties: ReadProperty[]
  /** Properties that the object does not have. */
  absent: number[]
  /** Time of the last answer, ms since 1970 UTC, and round-trip time of the first one, ms. */
  at: number
  rttMs: number
}
type PropertyReader = {
  /** Those that can be read. */
  devices(): DeviceEntry[]
  /**
   * One ReadProperty for each property, so that a property which a device does not have hides no other.
   *
   * @throws Problem `unknown_device` when it is not in `devices()`, `invalid` when object or property is none, `conflict` while another
   *   read of the device runs, `device_failed` when it does not answer, or has no such object
   */
  read(asked: AskedProperties): Promise<PropertiesRead>
}

export function propertyReader({ catalogue, bacnet }: PropertySources): PropertyReader {
  /** One read of a device at a time, so that reads do not delay polling. */
  const reading = new Set<string>()
  const devices = () => catalogue().devices.filter(({ enabled, protocol }) => enabled && protocol === 'bacnet')
  return {
    devices,
    async read(asked) {
      const { device_id } = asked
      const device = devices().find(one => one.device_id === device_id)
      if (!device) throw new Problem('unknown_device', `There is no enabled BACnet device "${device_id}" in the catalogue`)
      const object = readObjectName(asked.object)
      const targets = targetsOf({ ...asked, object })
      if (reading.has(device_id)) throw new Problem('conflict', `Another read of ${device_id} is still running`)
      reading.add(device_id)
      try {
        return await readEach(bacnet, device, object, targets)
      } finally {
        reading.delete(device_id)
      }
    },
  }
}

function targetsOf({ object, property }: AskedProperties): Target[] {
  const target = parseTarget(object)
  if (typeof target === 'string' || object.includes('/'))
    throw new Problem('invalid', 'An object is a type by its name or number and an instance, such as AI-3 or analog-input,3')
  const { type, instance } = target
  if (property === undefined || property === '') return usualProperties(type).map(one => ({ type, instance, property: one }))
  const one = propertyNumber(property)
  if (one === undefined)
    throw new Problem('invalid', 'A property is a name of the standard, such as present-value, or a number up to 4194303')
  return [{ type, instance, property: one }]
}

async function readEach(
  bacnet: PropertySources['bacnet'],
  device: DeviceEntry,
  object: string,
  targets: Target[],
): Promise<PropertiesRead> {
  const read: PropertiesRead = { device, object, properties: [], absent: [], at: 0, rttMs: 0 }
  const { peer, retryPolicy } = connectionOf(device)
  const { transport, release } = await bacnet.borrow()
  const { signal } = new AbortController()
  try {
    for (const target of targets) {
      const { property } = target
      const outcome = await transport.request(
        peer,
        { service: READ_PROPERTY, targets: [target] },
        withFewRetries(retryPolicy),
        signal,
      )
      // A device that does not answer is not asked for the rest.
      if ('reason' in outcome) throw new Problem('device_failed', outcome.reason)
      if (read.at === 0) read.rttMs = outcome.rttMs
      read.at = outcome.at
      if (outcome.state === 'refused') {
        read.properties.push({ property, error: formatRefusal(outcome.refusal) })
        continue
      }
      const [result] = outcome.results
      if (result && 'values' in result) read.properties.push({ property, values: result.values })
      else if (result?.error.errorCode === UNKNOWN_OBJECT) throw new Problem('device_failed', `The device has no ${object}`)
      else if (result?.error.errorCode === UNKNOWN_PROPERTY) read.absent.push(property)
      else if (result) read.properties.push({ property, error: formatError(result.error) })
    }
    return read
  } finally {
    await release()
  }
}

/** BACnet/IP in the list of field devices, on pages and in imports. */
import { type Static, Type } from '@sinclair/typebox'
import { formatTarget, parseTarget, INSTANCE_MAX } from '#shared/core/bacnet/object.ts'
import { type DriverDefinition, integerField, PORT_MAX, NO_OTHER_FIELDS } from '../../../core/catalogue/driver-definition.ts'
import { ADDRESS_FORM, formatAddress, parseAddress } from './address.ts'
import { edeFormat } from './ede/ede-format.ts'
import { findInstanceConflicts } from './instance-conflicts.ts'
import { readBacnetRegistry } from './registry.ts'

/** Four numbers, 0..255. A name would have to be resolved for every datagram. */
const IPV4 = '^(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$)|$)){4}$'

const BacnetSection = Type.Object(
  {
    device_instance: integerField(0, INSTANCE_MAX, 'Device object of the device'),
    host: Type.String({ pattern: IPV4, description: 'IPv4 address of the device, or of the router before it' }),
    port: Type.Optional(integerField(1, PORT_MAX, 'UDP port; 47808 when absent')),
    network: Type.Optional(integerField(1, 65_534, 'Network behind the router; goes with mac')),
    mac: Type.Optional(Type.String({ pattern: '^([0-9a-f]{2}){1,7}$', description: 'Address on that network, hexadecimal' })),
    max_apdu: Type.Optional(integerField(50, 1476, 'Largest APDU the device takes, bytes; the device is asked when absent')),
    segmentation: Type.Optional(
      Type.Boolean({ description: 'false: the device mishandles segmented answers, so none are accepted; true when absent' }),
    ),
    rpm_max: Type.Optional(integerField(1, 92, 'Most points in one request; 1 means ReadProperty only')),
  },
  NO_OTHER_FIELDS,
)

type BacnetSection = Static<typeof BacnetSection>

export const bacnetDefinition = {
  name: 'bacnet',
  title: 'BACnet/IP',
  section: BacnetSection,
  telemetry: 'bacnet',
  features: { changeNotification: true, priorityArrays: true },
  formatLocation: section => (section.host === '' ? null : formatAddress(section)),
  listFacts: ({ device_instance }) => [['Device instance', String(device_instance)]],
  addressField: {
    example: ADDRESS_FORM,
    format: formatAddress,
    replace({ network: _network, mac: _mac, ...others }, text) {
      const address = parseAddress(text)
      return address && { ...others, ...address }
    },
  },
  addressKey(address) {
    const target = parseTarget(address)
    return typeof target === 'string' ? address : formatTarget(target)
  },
  findConflicts: findInstanceConflicts,
  pointSet: edeFormat,
  registry: {
    name: 'volttron-bacnet',
    title: 'VOLTTRON registry, BACnet',
    read: readBacnetRegistry,
    addressExample: ADDRESS_FORM,
    number: { name: 'device_instance', label: 'BACnet device instance', min: 0, max: INSTANCE_MAX },
    describeDevice(text, device_instance) {
      const address = parseAddress(text)
      return address && { device_instance, ...address }
    },
  },
} as const satisfies DriverDefinition<'bacnet', typeof BacnetSection>

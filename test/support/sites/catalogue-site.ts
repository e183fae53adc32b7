/** A small site for tests: one BACnet device, one Modbus device. */
import pino from 'pino'
import type { DeviceCatalogue } from '#appliance/store/catalogue-schema.ts'
import { fieldCatalogue } from '#appliance/services/field-catalogue.ts'
import type { SiteSettings } from '#appliance/store/site.ts'

export const SILENT = pino({ level: 'silent' })

export const site: SiteSettings = {
  site_id: 'demo',
  edge_id: 'edge-1',
  building: { building_id: 'school', name: 'School', timezone: 'America/Chicago', unit_system: 'us' },
  equipment: [
    { equipment_id: 'AHU-1', name: 'Air handler', equipment_type: 'ahu', feeds: ['VAV-1'] },
    { equipment_id: 'VAV-1', name: 'Box', equipment_type: 'vav', parent_id: 'AHU-1' },
  ],
}

const timing = { timeout_ms: 4000, retries: 1 }

export const catalogue: DeviceCatalogue = {
  devices: [
    {
      device_id: 'ahu-1',
      name: 'Air handler controller',
      enabled: true,
      protocol: 'bacnet',
      bacnet: { device_instance: 1001, host: '127.0.0.1', port: 47_999, max_apdu: 1476 },
      ...timing,
      points: [
        {
          point_id: 'AHU-1.sa_t',
          address: 'analog-input,1',
          name: 'Supply air temperature',
          unit: 'degF',
          kind: 'number',
          poll_secs: 60,
          role: 'sa_t',
          equipment_id: 'AHU-1',
        },
        {
          point_id: 'AHU-1.fan_status',
          address: 'binary-input,1/present-value',
          name: 'Fan status',
          unit: 'bool',
          kind: 'bool',
          poll_secs: 60,
          states: ['off', 'on'],
        },
      ],
    },
    {
      device_id: 'meter-1',
      name: 'Meter',
      enabled: true,
      protocol: 'modbus',
      modbus: { host: '127.0.0.1', port: 50_200, unit_id: 1 },
      ...timing,
      points: [
        {
          point_id: 'meter.power',
          address: 'holding:0:float32',
          name: 'Power',
          unit: 'kW',
          kind: 'number',
          poll_secs: 60,
          scale: 0.001,
        },
      ],
    },
  ],
}

/** A catalogue that no file holds and that takes every change. */
export function memoryCatalogue(held: DeviceCatalogue) {
  let current = held
  const settings = {
    path: 'memory',
    current: () => current,
    check: () => undefined,
    replace: async (next: DeviceCatalogue) => void (current = next),
    foreignVersion: async () => undefined,
    reread: async () => current,
  }
  return fieldCatalogue(settings, SILENT)
}

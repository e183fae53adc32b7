import test from 'ava'
import type { BacnetPoint } from '#appliance/drivers/bacnet/core/point.ts'
import { firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import type { ModbusPoint } from '#appliance/drivers/modbus/core/point.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import { openBacnetTransport } from '#appliance/drivers/bacnet/transport.ts'
import { SharedBus } from '#appliance/drivers/modbus/bus.ts'
import { modbusDriver } from '#appliance/drivers/modbus/driver.ts'
import { tcpLink } from '#appliance/drivers/modbus/tcp-link.ts'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { openModbusDevice, type SimRegister } from '#scripts/simulator/modbus/device.ts'
import { driverConformance } from '../../conformance/driver.ts'
import { SILENT } from '../../support/sites/catalogue-site.ts'

const NOW = 1_000
const retryPolicy = { timeoutMs: 1500, retries: 0 }
const conversion = { kind: 'number', scale: 1, offset: 0 } as const
const placeOf = (point_id: string) => (point_id === 'missing' ? 99 : Number(point_id.slice(1)))

driverConformance<BacnetPoint>(test, 'BACnet/IP', async t => {
  const objects = [0, 1, 2].map(instance => ({ type: 0, instance, name: `ai ${instance}`, value: () => 10 + instance }))
  const device = await openBacnetDevice({ device_instance: 1, name: 'sim', objects })
  const transport = await openBacnetTransport({ address: '127.0.0.1', port: 0 }, () => NOW, SILENT)
  t.teardown(async () => {
    await transport.close()
    await device.close()
  })
  return {
    driver: new BacnetDriver(transport, device, retryPolicy, firstBatch(480), () => NOW),
    address: point_id => ({ target: { type: 0, instance: placeOf(point_id), property: 85 }, conversion }),
    silence: () => device.misbehave('silent'),
    now: NOW,
  }
})

driverConformance<ModbusPoint>(test, 'Modbus TCP', async t => {
  const registers = [0, 1, 2].map(
    (address): SimRegister => ({ table: 'input', address, kind: 'uint16', value: () => 10 + address }),
  )
  const device = await openModbusDevice({ registers })
  const bus = new SharedBus(tcpLink(device.host, device.port), () => NOW)
  t.teardown(async () => {
    await bus.close()
    await device.close()
  })
  return {
    driver: modbusDriver(bus, { unit_id: 1, max_gap: 16, retryPolicy, now: () => NOW }),
    address: point_id => ({
      address: { table: 'input', address: placeOf(point_id), count: 1, format: 'uint16', order: 'ABCD' },
      conversion,
    }),
    silence: () => device.misbehave('silent'),
    now: NOW,
  }
})

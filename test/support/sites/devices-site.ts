/** A box with its list of devices, real polling of simulated devices, the API and the pages of devices, on loopback. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { problemPages } from '#shared/central/pages/login.route.ts'
import { pageRoutes } from '#shared/central/pages/routes.ts'
import { createPageLayout } from '#shared/central/pages/create-layout.ts'
import { wallClock } from '#shared/node/clock.ts'
import type { PageLanguageOf } from '#shared/node/http/language.ts'
import { openHttp } from '#shared/node/http/server.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { modbusProtocol } from '#appliance/drivers/modbus/protocol.ts'
import { devicePages } from '#appliance/pages/devices.route.ts'
import { deviceRoutes } from '#appliance/services/device-routes.ts'
import { fieldCatalogue } from '#appliance/services/field-catalogue.ts'
import { PollService } from '#appliance/services/poll-service.ts'
import { openCatalogue } from '#appliance/store/catalogue.ts'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { OBJECT_TYPES } from '#scripts/simulator/bacnet/objects.ts'
import { openBoxCentral } from './box-central.ts'
import { SILENT, site } from './catalogue-site.ts'

export type DevicesSite = Awaited<ReturnType<typeof openDevicesSite>>

/** @param pageLanguageOf without it pages are English */
export async function openDevicesSite(pageLanguageOf?: PageLanguageOf) {
  const workspace = mkdtempSync(join(tmpdir(), 'plenum-devices-'))
  const air = await openBacnetDevice({
    device_instance: 1001,
    name: 'AHU-1',
    objects: [
      { type: OBJECT_TYPES.AI, instance: 1, name: 'Supply air', value: () => 55.5 },
      { type: OBJECT_TYPES.BI, instance: 1, name: 'Fan', value: () => 1 },
    ],
  })
  const { context, services, routes: central } = await openBoxCentral(workspace)
  const protocols = [
    bacnetProtocol({ bind: { address: '127.0.0.1', port: 0 }, now: Date.now, log: SILENT }),
    modbusProtocol({ now: Date.now }),
  ]
  const catalogue = fieldCatalogue(await openCatalogue(workspace, site, protocols), SILENT)
  const polling = new PollService({ catalogue: catalogue.current(), protocols, sinks: [], clock: wallClock, log: SILENT })
  catalogue.onChange(next => polling.reload(next))
  const layout = createPageLayout(context, {
    product: 'appliance',
    name: 'School box',
    first: 'Home',
    more: [{ href: '/devices', text: 'Devices' }],
  })
  const pollStatus = () => polling.pollStatus()
  const pointStatus = (device_id: string) => polling.pointStatus(device_id)
  const deps = {
    building_id: 'school',
    catalogue,
    pollStatus,
    pointStatus,
    traffic: () => polling.traffic(),
    project: { name: 'School', version: context.version },
    now: Date.now,
  }
  const routes = [
    ...deviceRoutes(deps),
    ...devicePages({ context, layout, deps, links: [{ href: '/discover', text: 'Discover BACnet devices' }] }),
  ]
  const http = await openHttp({
    name: 'devices',
    host: '127.0.0.1',
    port: 0,
    routes: [...central, ...pageRoutes(context, layout), ...routes],
    auth: context.auth,
    audit: context.audit,
    log: SILENT,
    version: context.version,
    trustedProxies: [],
    problemPage: problemPages(layout),
    pageLanguageOf,
  })
  const running = [...services, polling, http]
  for (const service of running) await service.start()
  return {
    url: http.url(),
    air,
    catalogue,
    routes,
    centralRoutes: central,
    audit: context.audit,
    pollStatus,
    path: join(workspace, 'field-devices.json'),
    async close() {
      for (const service of running.toReversed()) await service.stop()
      await air.close()
      rmSync(workspace, { recursive: true, force: true })
    },
  }
}

/** What an operator has in a folder: three devices, one of which nobody has said the address of, and a few bad rows. */
export const edeOf = (port: number): string => `# Proposal_Engineering-Data-Exchange - B.I.G.-EU
PROJECT_NAME;School
VERSION_OF_REFERENCEFILE;1
TIMESTAMP_OF_LAST_CHANGE;19. Dec 2005
AUTHOR_OF_LAST_CHANGE;G. Sampler
VERSION_OF_LAYOUT;2.3
#mandatory;mandator;mandatory;mandatory;mandatory;optional
# keyname;device obj.-instance;object-name;object-type;object-instance;description;present-value-default;min-present-value;max-present-value;settable;supports COV;hi-limit;low-limit;state-text-reference;unit-code;vendor-specific-address;notification-class
d1;1001;AHU-1;8;1001;;;;;;;;;;;127.0.0.1:${port};
a1;1001;Supply air;0;1;Supply air temperature;;;;N;Y;;;;64;;
a2;1001;Fan;3;1;;;;;N;Y;;;1;;;
d2;1002;Boiler <2>;8;1002;;;;;;;;;;;;
b1;1002;Flow temperature of the primary heating circuit, north wing;0;1;;;;;;;;;;62;;
b2;1002;Level;0;2;;;;;;;;;;30;;
t1;1002;Trend;20;1;;;;;;;;;;;;
x1;10o2;Typo;0;3;;;;;;;;;;62;;
x2;1002;Unknown;analog;4;;;;;;;;;;62;;
`
export const STATE_TEXTS = '#State Text Reference\n#Reference Number;Text 1;Text 2\n1;Off;On\n'

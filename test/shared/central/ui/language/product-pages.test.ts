/** Pages of one product alone in a language that marks what the product says: what is not marked is data, or a text that German lacks. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { modbusProtocol } from '#appliance/drivers/modbus/protocol.ts'
import { modbusRoutes } from '#appliance/drivers/modbus/pages/registers.route.ts'
import { CommandStates } from '#appliance/pages/command-states.ts'
import { overridesPages } from '#appliance/pages/overrides.route.ts'
import { journalSnapshots } from '#appliance/priority/journal-snapshots.ts'
import { openNetwork } from '#appliance/system/network.ts'
import { networkRoutes } from '#appliance/system/network.routes.ts'
import { monitorRoutes } from '#hub/monitor/monitor.route.ts'
import { MqttMonitor } from '#hub/monitor/mqtt-monitor.ts'
import { tenantPages } from '#hub/tenants/tenants.route.ts'
import { updateRoutes } from '#hub/updates/updates.route.ts'
import { bundleOf, openBox, openFleet } from '../../../../hub/updates/boxes.ts'
import { openTenantSite } from '../../../../support/sites/tenant-site.ts'
import { EQUIPMENT } from '../../../../support/page-fixture.ts'
import { openDiscoverySite } from '../../../../appliance/drivers/bacnet/discovery/site.ts'
import { folder, until } from '../../../../support/folders.ts'
import { MARKED, unmarkedWords } from '../../../../support/pages/marked-language.ts'
import { CATALOGUE, HISTORY, journalOf, scheduleOf, LEVEL_NAMES, SITE } from '../../../../support/overrides-fixture.ts'
import { signedIn } from '../../../../support/signed-in.ts'
import { openDevicesSite } from '../../../../support/sites/devices-site.ts'
import { makeHubAuthority, openEnrolSite } from '../../../../support/sites/enrol-site.ts'
import { openSite, PASSWORDS } from '../../../../support/sites/page-site.ts'

type Opened = { url: string; close(): Promise<unknown> }
const pageLanguageOf = () => MARKED
const openUpdatesSite = (rollouts: Parameters<typeof updateRoutes>[0]) =>
  openSite({ product: 'hub', pageLanguageOf, more: (layout, context) => updateRoutes(rollouts, context, layout) })
/** Names in the fixtures. */
const DATA = [
  'Riverside School',
  'Riverside plant room',
  'Riverside box',
  'Campus hub',
  'riverside',
  'School box',
  'School',
  'Main meter',
  'admin',
  'Supply air',
  'Fan',
  'bacnet',
  'AHU-1',
  'Haystack',
]

const PAGES: Record<string, { open(t: ExecutionContext): Promise<Opened>; paths: string[]; data: string[] }> = {
  'the registers of Modbus': {
    async open(t) {
      const modbus = modbusProtocol({ now: Date.now })
      t.teardown(() => modbus.stop())
      const points = { name: 'Main meter', enabled: true, protocol: 'modbus' as const, points: [] }
      const device = { device_id: 'meter-1', modbus: { host: '127.0.0.1', port: 1, unit_id: 1 }, ...points }
      const sources = { catalogue: () => ({ devices: [device] }), modbus }
      return openSite({ product: 'appliance', pageLanguageOf, more: layout => modbusRoutes(sources, layout) })
    },
    paths: [
      '/modbus',
      '/modbus?device=meter-1&table=holding&address=0&count=2',
      '/modbus?device=nobody&table=holding&address=0&count=2',
    ],
    data: [],
  },
  'the messages of MQTT': {
    async open() {
      const monitor = new MqttMonitor(Date.now)
      monitor.record('received', 'sites/riverside/edges/box-1/status', Buffer.from('{}'))
      return openSite({ product: 'hub', pageLanguageOf, more: layout => monitorRoutes(monitor, layout) })
    },
    paths: ['/mqtt', '/mqtt?kind=status'],
    // Words of topics.
    data: ['telemetry', 'findings', 'metadata', 'status', 'acks', 'requests', 'responses'],
  },
  'the overrides of a box': {
    async open() {
      const journal = journalOf(HISTORY)
      const catalogue = () => CATALOGUE
      return openSite({
        ...{ product: 'appliance', api: true, pageLanguageOf },
        priority: journalSnapshots({ journal: () => journal, catalogue, building: SITE.building, levels: LEVEL_NAMES }),
        more: layout =>
          overridesPages({
            journal,
            schedule: scheduleOf(),
            catalogue,
            site: SITE,
            levels: LEVEL_NAMES,
            layout,
            commandStates: new CommandStates(journal),
          }),
      })
    },
    paths: ['/overrides', '/overrides?older=1', '/overrides/1007/analog-value/3', '/overrides/1007/analog-value/999'],
    data: [
      ...CATALOGUE.devices.flatMap(({ name, points }) => [name, ...points.map(point => point.name)]),
      ...EQUIPMENT.map(({ name }) => name),
      'AHU-1 outdoor air damper',
      'Plant sequence',
      'Off (0)',
      '=HYPERLINK(&quot;gone&quot;)',
    ],
  },
  'the enrolment of boxes': {
    async open(t) {
      const { hub } = await makeHubAuthority(folder(t))
      return openEnrolSite(hub, 8883, { pageLanguageOf })
    },
    paths: ['/enrol'],
    data: [],
  },
  'a hub without an authority': {
    open: () => openEnrolSite(undefined, 8883, { pageLanguageOf }),
    paths: ['/enrol'],
    data: [],
  },
  ...Object.fromEntries(
    [
      ['trying', ''],
      ['kept', ''],
      ['set_back', 'nobody kept them within 10 minutes'],
      ['set_back', 'the network was set at the box itself'],
      ['refused', '/ot: this box has no network of the controllers'],
    ].map(([state, reason]) => [
      `the network of a box that says ${state} ${reason}`,
      {
        async open(t: ExecutionContext) {
          const box = folder(t)
          const put = (name: string, value: object) => writeFileSync(join(box, name), JSON.stringify(value))
          put('current.json', { uplink: { interface: 'eth0' }, ot: { interface: 'eth1' } })
          put('state.json', { state, reason, at: '2026-01-02T03:04:05Z' })
          const network = openNetwork(box, () => false)
          return openSite({ product: 'appliance', pageLanguageOf, more: layout => networkRoutes(network, layout) })
        },
        paths: ['/network'],
        data: ['eth0', 'eth1'],
      },
    ]),
  ),
  'roll-outs of an update, before any': {
    async open(t) {
      const { rollouts } = openFleet(t, [openBox(t, 'e1')])
      return openUpdatesSite(rollouts)
    },
    paths: ['/updates'],
    data: [],
  },
  ...Object.fromEntries(
    (['confirmed', 'rolled_back'] as const).map(outcome => [
      `a roll-out of an update that is ${outcome}`,
      {
        async open(t: ExecutionContext) {
          const { rollouts, begin } = openFleet(t, [openBox(t, 'e1', outcome), openBox(t, 'e2')])
          await rollouts.service.start()
          await begin(bundleOf())
          await until(() => rollouts.current()?.state === (outcome === 'confirmed' ? 'finished' : 'stopped'), outcome)
          return openUpdatesSite(rollouts)
        },
        paths: ['/updates'],
        // A box tells its reason and its log in English.
        data: ['no page for 25 min', 'cannot open &lt;page&gt;', 'the end', 'A/e1', 'A/e2'],
      },
    ]),
  ),
  'the tenants of a hub': {
    async open(t) {
      const tenants = await openTenantSite(t)
      await tenants.addTenant('acme')
      await tenants.addUser('ann', 'admin', ['acme'])
      const { context } = tenants.hub.central
      return openSite({ product: 'hub', pageLanguageOf, more: layout => tenantPages(context, layout) })
    },
    paths: ['/tenants'],
    data: ['Customer acme', 'acme', 'ann'],
  },
  'the discovery of devices': {
    open: () => openDiscoverySite(true, pageLanguageOf),
    paths: ['/discover'],
    // A word that the field takes.
    data: ['all'],
  },
  'a discovery that is switched off': {
    open: () => openDiscoverySite(false, pageLanguageOf),
    paths: ['/discover'],
    data: [],
  },
  'the devices of a box': {
    open: () => openDevicesSite(pageLanguageOf),
    paths: ['/devices', '/devices/device-9'],
    data: ['Discover BACnet devices'],
  },
}

for (const [name, { open, paths, data }] of Object.entries(PAGES)) {
  test(`${name}: nothing is said that German lacks`, async t => {
    const site = await open(t)
    t.teardown(async () => void (await site.close()))
    const { get } = await signedIn(site.url, 'admin', PASSWORDS.admin)
    for (const path of paths) {
      // A name that is part of another comes after it.
      const names = [path, ...data, ...DATA].toSorted((a, b) => b.length - a.length)
      const answer = await get(path)
      t.regex(answer.headers.get('content-type') ?? '', /^text\/html/, path)
      t.deepEqual(unmarkedWords(await answer.text(), names), [], path)
    }
  })
}

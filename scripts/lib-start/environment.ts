import { EDGE_ID, SITE_ID } from '../simulator/building/catalogue.ts'
import type { Kept } from './folder.ts'
import { PORTS } from './options.ts'
import type { Layout } from './provision.ts'

export type PartSettings = {
  at: Layout
  portBase: number
  kept: Kept
  clock: { speed: number; epochMs: number; atMs: number }
}

/** Settings of both processes. The simulated clock is accepted on loopback only. */
const common = ({ kept: { passwords }, clock }: PartSettings): Record<string, string> => ({
  SERVICE_CENTRAL_BIND: '127.0.0.1',
  SERVICE_SITE_ID: SITE_ID,
  SERVICE_ADMIN_PASSWORD: passwords.admin,
  SERVICE_AGENT_PASSWORD: passwords.agent,
  SERVICE_VIEWER_PASSWORD: passwords.viewer,
  SERVICE_SIM_CLOCK: `${clock.speed}@${clock.epochMs}@${clock.atMs}`,
})

export const hubEnv = (settings: PartSettings): Record<string, string> => ({
  ...common(settings),
  SERVICE_WORKSPACE: settings.at.hub,
  SERVICE_CENTRAL_PORT: String(settings.portBase + PORTS.hub),
  SERVICE_MQTT_BIND: '127.0.0.1',
  SERVICE_MQTT_PORT: String(settings.portBase + PORTS.broker),
  SERVICE_MQTT_CERT_DIR: settings.at.certs,
  SERVICE_JWT_SECRET: settings.kept.hubSecret,
})

export const applianceEnv = (settings: PartSettings): Record<string, string> => ({
  ...common(settings),
  SERVICE_WORKSPACE: settings.at.appliance,
  SERVICE_EDGE_STORE_DIR: settings.at.edgeStore,
  SERVICE_MQTT_ENABLED: '1',
  SERVICE_MQTT_HOST: '127.0.0.1',
  SERVICE_MQTT_PORT: String(settings.portBase + PORTS.broker),
  SERVICE_BACNET_BIND: '127.0.0.1',
  SERVICE_BACNET_PORT: '0',
  SERVICE_PRIORITY_SCAN_ENABLED: '1',
  SERVICE_PRIORITY_SCAN_INTERVAL_SECS: '300',
  SERVICE_EDGE_KIT_DIR: settings.at.kit,
  SERVICE_EDGE_ID: EDGE_ID,
  SERVICE_CENTRAL_PORT: String(settings.portBase + PORTS.appliance),
  SERVICE_JWT_SECRET: settings.kept.applianceSecret,
})

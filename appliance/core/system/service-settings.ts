/** What the appliance's own unit lets through beyond its defaults, from `system.json`, as text for systemd. */
import type { SystemSettings } from '#shared/core/system/system-file.ts'

/** The unit allows private networks; more only where the file names it. */
const SERIAL = [
  'PrivateDevices=no',
  ...['ttyUSB', 'ttyACM', 'ttyS', 'ttyAMA'].map(kind => `DeviceAllow=char-${kind} rw`),
  'SupplementaryGroups=dialout',
]

/** @returns a file below `/run/systemd`; none where the unit's defaults do */
export function serviceSettings({ outbound = [], serial = false }: SystemSettings): { name: string; text: string }[] {
  const lines = [...outbound.map(({ network }) => `IPAddressAllow=${network}`), ...(serial ? SERIAL : [])]
  return lines.length > 0 ? [{ name: 'system/plenum.service.d/system.conf', text: `[Service]\n${lines.join('\n')}\n` }] : []
}

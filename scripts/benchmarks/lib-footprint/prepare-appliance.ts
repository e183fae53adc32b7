import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Writes the configuration of a site. @returns the settings of an appliance that reads it, on loopback */
export async function prepareAppliance(
  workspace: string,
  { fieldDevices, site }: { fieldDevices: object; site: object },
  { port, password }: { port: number; password: string },
): Promise<Record<string, string>> {
  await mkdir(join(workspace, 'config'), { recursive: true })
  await writeFile(join(workspace, 'config', 'field-devices.json'), JSON.stringify(fieldDevices))
  await writeFile(join(workspace, 'config', 'site.json'), JSON.stringify(site))
  return {
    SERVICE_WORKSPACE: workspace,
    SERVICE_CENTRAL_BIND: '127.0.0.1',
    SERVICE_CENTRAL_PORT: String(port),
    SERVICE_BACNET_BIND: '127.0.0.1',
    SERVICE_BACNET_PORT: '0',
    SERVICE_JWT_SECRET: 'a secret of the bench, known to all',
    SERVICE_ADMIN_PASSWORD: 'admin-of-the-bench',
    SERVICE_VIEWER_PASSWORD: password,
  }
}

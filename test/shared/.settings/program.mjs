
import { settingsOrExit } from '#shared/node/settings.ts'
const TABLE = {
  SERVICE_WORKSPACE: { kind: 'text', default: '/nowhere', doc: 'folder' },
  SERVICE_JWT_SECRET: { kind: 'text', secret: true, minLength: 32, doc: 'signs' },
  SERVICE_ADMIN_PASSWORD: { kind: 'text', secret: true, doc: 'of admin' },
}
const { settings, effective } = settingsOrExit('test', TABLE, process.env, process.argv.slice(2))
process.stdout.write(JSON.stringify({ ...settings, from: Object.fromEntries(effective.map(({ name, source }) => [name, source])) }))

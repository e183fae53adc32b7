/** web: the reverse proxy between browsers and central. */
import { openLog } from '#shared/node/log.ts'
import { runProcess } from '#shared/node/service.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { watchServerTls } from '#shared/node/http/server-tls.ts'
import { complainOfProxies, proxiesOf } from '#shared/node/auth/auth-settings.ts'
import { WEB_ENV } from './env.ts'
import { webService } from './proxy.ts'

const usage = 'web: pages and API of central, for browsers'
const { settings } = settingsOrExit(usage, WEB_ENV, process.env, process.argv.slice(2), {
  complain: ({ SERVICE_TRUSTED_PROXIES }) => complainOfProxies(SERVICE_TRUSTED_PROXIES),
})
const log = openLog('web', settings.SERVICE_LOG_LEVEL)

await runProcess(log, async () => {
  const { SERVICE_TLS_DIR: tlsDir } = settings
  const tls = tlsDir === undefined ? undefined : await watchServerTls(tlsDir, log)
  const web = webService({
    host: settings.SERVICE_WEB_BIND,
    port: settings.SERVICE_WEB_PORT,
    upstream: settings.SERVICE_CENTRAL_UPSTREAM,
    resolver: settings.SERVICE_NGINX_RESOLVER,
    pages: settings.SERVICE_REACT_UI,
    trustedProxies: proxiesOf(settings.SERVICE_TRUSTED_PROXIES),
    tls,
    log,
  })
  return [...(tls ? [tls] : []), web]
})

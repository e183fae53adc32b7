import type { VariableTable } from '#shared/core/env.ts'
import { CENTRAL_VARIABLES } from '#shared/central/env.ts'
import { AUTH_VARIABLES } from '#shared/node/auth/auth-settings.ts'

/** Settings of the web process. */
export const WEB_ENV = {
  SERVICE_WEB_BIND: { kind: 'text', default: '0.0.0.0', doc: 'address to listen on' },
  SERVICE_WEB_PORT: { kind: 'integer', default: 8080, min: 1, max: 65_535, doc: 'port to listen on' },
  SERVICE_TLS_DIR: CENTRAL_VARIABLES.SERVICE_TLS_DIR,
  SERVICE_CENTRAL_UPSTREAM: {
    kind: 'text',
    default: 'central:8080',
    pattern: /^[^\s:/]+:\d{1,5}$/,
    doc: 'central as host:port, without a scheme',
  },
  SERVICE_NGINX_RESOLVER: {
    kind: 'text',
    default: 'auto',
    doc: 'name server that resolves the host of central; auto: that of the system',
  },
  SERVICE_REACT_UI: { kind: 'flag', default: true, doc: '0 turns the pages off and leaves the API' },
  SERVICE_TRUSTED_PROXIES: AUTH_VARIABLES.SERVICE_TRUSTED_PROXIES,
  SERVICE_LOG_LEVEL: { kind: 'choice', choices: ['debug', 'info', 'warn', 'error'], default: 'info', doc: 'how much is logged' },
} as const satisfies VariableTable

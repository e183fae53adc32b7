/** The tenants of a hub: a workspace and a central for each. The token of a request chooses the central that answers it. */
import type { Logger } from 'pino'
import type { CentralPages } from '#shared/central/process.ts'
import { errorText } from '#shared/core/error-text.ts'
import { Problem, ThrottledProblem } from '#shared/core/problem.ts'
import { RequestMeter, type StorageUse, type TenantBudget, type TenantUse } from '#shared/core/tenant-budget.ts'
import { activeTenant, isHubAdmin, LEGACY_TENANT, type Tenant } from '#shared/core/tenant.ts'
import type { ApiTokenStore } from '#shared/core/stores.ts'
import type { TenantTokens } from '#shared/node/auth/token.ts'
import type { Route } from '#shared/node/http/route.ts'
import type { Scope, ScopeOf } from '#shared/node/http/route-mount.ts'
import type { Service } from '#shared/node/service.ts'
import type { SiteIngest } from '../ingest/mqtt-subscriber.ts'

/** One tenant's part of the hub, created over its own workspace. */
export type HostedTenant = SiteIngest & {
  pages: CentralPages
  services: Service[]
  use: () => StorageUse
  apiTokens: ApiTokenStore
}

type HostOptions = {
  /** Opens the workspace of a tenant. @throws Error that names the file or folder that cannot be used */
  openTenant: (tenant: Tenant) => Promise<HostedTenant>
  /** The limits of a tenant as they are now. */
  budgetOf: (tenant_id: string) => TenantBudget | undefined
  /** The wall clock, ms. */
  now: () => number
  log: Logger
}

type Opened = HostedTenant & { scope: Scope }

export class TenantHost {
  readonly #options: HostOptions
  readonly #requests = new RequestMeter()
  readonly #opened = new Map<string, Opened>()

  constructor(options: HostOptions) {
    this.#options = options
  }

  /** Opens what is stored at start. A workspace that cannot be opened closes its own tenant and no other. */
  async openAll(tenants: Tenant[]): Promise<void> {
    for (const tenant of tenants) {
      const { tenant_id } = tenant
      await this.open(tenant).catch((error: unknown) =>
        this.#options.log.error({ tenant_id, err: error }, `tenant not opened: ${errorText(error)}`),
      )
    }
  }

  /** Opens and starts a tenant; one that is open stays as it is. */
  readonly open = async (tenant: Tenant): Promise<void> => {
    const { tenant_id } = tenant
    if (this.#opened.has(tenant_id)) return
    const hosted = await this.#options.openTenant(tenant)
    for (const service of hosted.services) await service.start()
    this.#opened.set(tenant_id, { ...hosted, scope: scopeOver(hosted) })
  }

  async stop(): Promise<void> {
    for (const { services } of [...this.#opened.values()]) for (const service of services.toReversed()) await service.stop()
    this.#opened.clear()
  }

  /** Ingest of the messages of a tenant's edges. */
  readonly of = (tenant_id: string): SiteIngest | undefined => this.#opened.get(tenant_id)
  readonly all = (): SiteIngest[] => [...this.#opened.values()]

  readonly tokens = (): TenantTokens[] => [...this.#opened].map(([tenant_id, { apiTokens }]) => ({ tenant_id, apiTokens }))

  readonly useOf = (tenant_id: string): TenantUse | undefined => {
    const opened = this.#opened.get(tenant_id)
    return opened && { ...opened.use(), requests_per_minute: this.#requests.used(tenant_id, this.#options.now()) }
  }

  /** @throws ThrottledProblem too_many_requests when the tenant has used its requests of this minute, over all its tokens */
  #countRequest(tenant_id: string): void {
    const { budgetOf, now } = this.#options
    const max = budgetOf(tenant_id)?.max_requests_per_minute ?? null
    const wait = this.#requests.take(tenant_id, max, now())
    if (wait === 0) return
    throw new ThrottledProblem('too_many_requests', `The tenant may send ${max} requests a minute; try again in ${wait} s`, wait)
  }

  readonly scopeOf: ScopeOf = (route, caller) => {
    if (!caller) return undefined
    const tenant_id = activeTenant(caller)
    // An admin of the hub in the tenant's workspace may still raise its budget.
    if (tenant_id !== LEGACY_TENANT && !(route.ofHub && isHubAdmin(caller))) this.#countRequest(tenant_id)
    if (route.ofHub) {
      if (route.auth === 'admin' && !isHubAdmin(caller)) {
        throw new Problem('forbidden', `This needs an admin of the hub, and ${caller.subject} is none`)
      }
      return undefined
    }
    if (tenant_id === LEGACY_TENANT) return undefined
    const opened = this.#opened.get(tenant_id)
    if (!opened)
      throw new Problem('not_ready', 'The workspace of this tenant is not open; an admin of the hub finds the reason in its log')
    return opened.scope
  }
}

const keyOf = ({ method, path }: Route): string => `${method} ${path}`

function scopeOver({ pages }: HostedTenant): Scope {
  const routes = new Map(pages.routes.map(each => [keyOf(each), each]))
  return { routeFor: mounted => routes.get(keyOf(mounted)), audit: pages.audit, problemPage: pages.problemPage }
}

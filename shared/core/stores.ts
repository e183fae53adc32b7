/** The small durable stores of central in SQLite. Synchronous; each has one writer; names as on the wire. */
import type { StoredApiToken } from './auth/api-tokens.ts'
import type { Tenant } from './tenant.ts'
import type { StoredUser } from './auth/users.ts'
import type { FaultDefinition, StoredDefinition } from '#shared/core/findings/fault-definition.ts'
import type { EnergyPrices } from './impact/impact.ts'
import type { Building, Edge, EdgeKey, Equipment, Point } from '#shared/core/model/model.ts'
import type { Quantity } from '#shared/core/model/quantity.ts'
import type { RunSummary } from './ports.ts'
import type { Quality } from '#shared/core/telemetry/reading.ts'
import type { RunState } from '#shared/core/runs/run-state.ts'

export interface ModelStore {
  buildings(): Building[]
  /** Of all buildings, each once. */
  timezones(): string[]
  building(building_id: string): Building | undefined
  equipment(building_id: string): Equipment[]
  points(building_id: string): Point[]
  /** Another number after every change of the building, its equipment or its points; 0 before the first. */
  revision(building_id: string): number
  /** Those of all buildings that were changed. */
  revisions(): Map<string, number>
  /** Inserts or updates by id, all or nothing. Equipment and points that are not named stay. */
  put(model: { building?: Building; equipment?: Equipment[]; points?: Point[] }): void
  /** Removes a building that has no equipment, no points and no prices; any other stays. */
  dropEmpty(building_id: string): void
  /** Sets role, equipment and unit of points, all or nothing; `replace` clears the building's other assignments first. */
  assign(
    building_id: string,
    assignments: Assignment[],
    mode: 'merge' | 'replace',
  ): { saved: number; unchanged: number; removed: number }
}
/** What is read of the model. */
export type ModelReader = Omit<ModelStore, 'put' | 'dropEmpty' | 'assign'>
export type Assignment = { point_id: string; equipment_id: string; role: string; unit?: string }

/** Engineering quantities, the ratings that price a fault. */
export interface QuantityStore {
  /** Ordered by `quantity_id`; without `building_id` all of them. */
  list(building_id?: string): Quantity[]
  get(quantity_id: string): Quantity | undefined
  /** Inserts or replaces by `quantity_id`, all or nothing. */
  put(quantities: Quantity[]): void
}

/** Energy prices by building. */
export interface PriceStore {
  get(building_id: string): EnergyPrices | undefined
  /** A carrier that is not named has no price any more. */
  put(building_id: string, prices: EnergyPrices): void
}

/** The record of an edge on a hub; the two freshness signals are independent. */
export type EdgeRecord = Edge & {
  /** MQTT session: from the edge's status message or its last will. */
  online: boolean
  session_changed_at: number | null
  /** Newest `observed_at` among stored telemetry. */
  last_data_at: number | null
  /** Since when data come without a pause longer than `FRESH_MS`, and since when it has its version; null where that is not known. */
  fresh_since: number | null
  version_since: number | null
  /** Null after the edge was deleted, until it sends its metadata again. */
  metadata_revision: number | null
  status_body: Record<string, unknown>
}
export interface EdgeStore {
  /** By edge id, then by site; without deleted ones, as `named`. */
  list(): EdgeRecord[]
  /** How many `list` has. */
  count(): number
  /** Also a deleted edge: its row stays, so that metadata that a broker retains does not bring it back. */
  get(site_id: string, edge_id: string): EdgeRecord | undefined
  /** Edges of this id, each of another site, by site. */
  named(edge_id: string): EdgeRecord[]
  /** Inserts or updates by site and id, all in one transaction: a fleet would cost a commit for each edge each second. */
  put(...edges: EdgeRecord[]): void
  /** Deletes an edge with everything that is known of it but its building. */
  delete(edge: EdgeKey): void
}

/** A reading whose own time cannot be right. `quality` is what the sender said; history never shows it. Times are ms since 1970 UTC. */
export type MisdatedReading = {
  building_id: string
  point_id: string
  /** Null for what this process read itself. */
  edge_id: string | null
  observed_at: number
  /** By the clock of this machine. */
  arrived_at: number
  /** Null where there was no usable value. */
  value: number | null
  quality: Quality
}
/** Readings that are stored separately from history, within a bound: beyond it the oldest of the building with most of them are removed. */
export interface MisdatedStore {
  /** All or nothing; a reading that is there already is stored once. @returns how many were new */
  keep(readings: MisdatedReading[]): number
  /** Newest arrival first; `before` is the last `entry` of the previous page. */
  list(query: { building_id: string; point_id?: string; before?: number; limit: number }): (MisdatedReading & { entry: number })[]
  /** `dropped`: since the process started, for want of room. */
  summary(): { count: number; newest_at: number | null; dropped: number }
}

/** A refused claim of an edge about itself. `since`: ms since 1970 UTC. */
export type EdgeRefusal = EdgeKey & { reason: string; since: number }
/** `edge_id` reports for a building of its site for which `from_edge_id` reported before. */
export type Takeover = EdgeKey & { building_id: string; from_edge_id: string; since: number }
/** Claims of edges that a hub refuses, and those that a person has to confirm. */
export interface EdgeClaims {
  refusals(): EdgeRefusal[]
  refusal(edge: EdgeKey): EdgeRefusal | undefined
  /** `since` is unchanged while the reason is the same. */
  refuse(refusal: EdgeRefusal): void
  /** The tenant that the edge's building was moved to. */
  movedTo(edge: EdgeKey): string | undefined
  /** Removes a refusal. */
  accept(edge: EdgeKey): void
  /** Removes refusal and takeovers of a deleted edge. */
  forget(edge: EdgeKey): void
  /** Those that nobody has confirmed, by building. */
  takeovers(): Takeover[]
  /** Once for each building and two edges: what was confirmed stays so. */
  claim(takeover: Takeover): void
  /** Confirms all takeovers of a building. @returns those that were not confirmed before */
  confirm(building_id: string, by: string, at: number): Takeover[]
}

export type AuditRow = {
  at: number
  actor: string
  role: string
  action: string
  subject: string
  /** Null for a change that belongs to no building, or to several. */
  building_id: string | null
  before: unknown
  after: unknown
  request_id: string
}
/** `entry` counts rows in the order of their arrival. */
export type StoredAuditRow = AuditRow & { entry: number }
/** Rows that match all of it. Times are ms since 1970 UTC, `[from, to)`. */
export type AuditFilter = {
  actor?: string
  action?: string
  /** With a building and a time, which have an index. */
  subject?: string
  building_id?: string
  from?: number
  to?: number
}
export interface AuditStore {
  add(row: AuditRow): void
  /** Newest first; `before` is the last row of the previous page. */
  list(query: AuditFilter & { limit: number; before?: Pick<StoredAuditRow, 'at' | 'entry'> }): StoredAuditRow[]
  /** Names of the actors and actions in the rows, sorted; at most 500 each. */
  names(): { actors: string[]; actions: string[] }
}

/** Refused logins are counted: one row of the audit stands for many, and its figures are brought up to date. */
export interface RefusedLoginStore {
  /** @returns the id of a row with the action `login_refused`. Beyond `max` such rows the oldest are deleted. */
  begin(row: Omit<AuditRow, 'action'>, max: number): number
  /** Replaces what the rows say in `after`, all in one transaction. */
  update(rows: readonly { id: number; after: unknown }[]): void
}

export type RuleState = { rule_id: string; active: boolean; changed_by: string; changed_at: number }
/** Which rules are switched off; a rule without a row is active. */
export interface RuleStates {
  list(): RuleState[]
  set(state: RuleState): void
}

/** A text of a rule that was deployed. Null where it was stored by hand, or before versions were kept. */
export type RuleVersion = {
  rule_id: string
  sha256: string
  yaml: string
  deployed_by: string | null
  deployed_at: number | null
}
/** Texts of deployed rules, within a bound: the newest 20 of each rule, and 2,000 of all. */
export interface RuleVersionStore {
  /** The one that was deployed last first. */
  list(rule_id: string): RuleVersion[]
  /** The one of each rule that was deployed last, by rule. */
  newest(): RuleVersion[]
  get(rule_id: string, sha256: string): RuleVersion | undefined
  /** Makes it the newest of its rule; the same text is stored once. */
  add(version: RuleVersion): void
}

/** Definitions of the faults that rules find, and of those that they found once. */
export interface DefinitionStore {
  /** Ordered by `fault_id`, with those that are retired. */
  list(): StoredDefinition[]
  get(fault_id: string): StoredDefinition | undefined
  /** Makes the table hold these; what is in it besides is retired. The same again changes nothing. @param now ms */
  sync(definitions: FaultDefinition[], now: number): { added: number; changed: number; unchanged: number; retired: number }
}

/** Every run from the moment it is asked for; those that stored what they found are in `Results.runs` as well. */
export interface RunStore {
  /** Inserts or updates by `run_id`. One that stored its results is done and stays so, whatever comes after. */
  put(run: RunState): void
  get(run_id: string): RunEntry | undefined
  /** Newest first; `after` is the last `run_id` of the previous page. */
  list(query: { building_id?: string; limit: number; after?: string }): RunEntry[]
  /** Ends as failed what an earlier process left queued or running. @returns how many there were */
  interrupt(at: number): number
}
export type RunEntry = { run: RunState; record?: RunSummary }

/** A count for each user: a token carries the count of its time, and is ended by the next. */
export interface TokenEpochs {
  get(username: string): number
  set(username: string, epoch: number): void
}

/** Named users. The logins of the settings are not among them. */
export interface UserStore {
  /** By user name. */
  list(): StoredUser[]
  get(username: string): StoredUser | undefined
  /** Inserts or replaces by `username`. */
  put(user: StoredUser): void
  remove(username: string): void
  /** Records a sign-in. @param at ms */
  signedIn(username: string, at: number): void
}

/** Tokens of scripts and agents. */
export interface ApiTokenStore {
  /** By name. */
  list(): StoredApiToken[]
  get(token_id: string): StoredApiToken | undefined
  add(token: StoredApiToken): void
  remove(token_id: string): void
  /** Records a use. @param at ms */
  used(token_id: string, at: number): void
}

/** Tenants of a hub and the users who may enter each. The tenant `legacy` exists without a row. */
export interface TenantStore {
  /** By id. */
  list(): Tenant[]
  get(tenant_id: string): Tenant | undefined
  /** Inserts or replaces by `tenant_id`. */
  put(tenant: Tenant): void
  /** Ids of the tenants that a user may enter, in order. */
  tenantsOf(username: string): string[]
  members(tenant_id: string): string[]
  addMember(tenant_id: string, username: string): void
  removeMember(tenant_id: string, username: string): void
}

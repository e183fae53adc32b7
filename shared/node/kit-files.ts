import type { Pair } from './pki.ts'

/** `edge.json` of a kit (contract §9). */
export type EdgeJson = {
  site_id: string
  edge_id: string
  broker_host: string
  broker_port: number
  hub_url?: string
  topic_base: string
  /** RFC 3339 */
  not_after: string
}
export type Kit = Pair & { ca_pem: string; edge: EdgeJson; acl: string }
export type KitRequest = {
  site_id: string
  edge_id: string
  broker_host: string
  broker_port: number
  hub_url?: string
  now: number
  days?: number
}

export declare function makeKit(ca: Pair, request: KitRequest): Promise<Kit>
export declare function zipKit(kit: Kit): Promise<Buffer>
/** Writes the five files into `dir`, keys with mode 600. */
export declare function writeKit(kit: Kit, dir: string): Promise<void>
/** Reads a kit from a folder or a ZIP and checks pair, expiry and issuer. @throws KitError with the reason */
export declare function readKit(path: string, now: number): Promise<Kit>

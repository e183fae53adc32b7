import type { ByteCounts } from '#shared/core/poll/traffic.ts'

/** Since its process started. */
export type ProtocolTraffic = ByteCounts & { protocol: string }

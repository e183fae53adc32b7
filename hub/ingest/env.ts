import type { Settings, VariableTable } from '#shared/core/env.ts'
import type { EdgeLimits } from '#shared/core/telemetry/edge-bounds.ts'

/** Settings of what a hub stores at most of what one edge can invent. */
export const EDGE_LIMIT_VARIABLES = {
  SERVICE_EDGE_MAX_BUILDINGS: {
    kind: 'integer',
    default: 20,
    min: 1,
    max: 10_000,
    doc: 'buildings that one edge may ever report for; an appliance has one, and each correction of its name leaves one behind',
  },
  SERVICE_EDGE_MAX_POINTS: {
    kind: 'integer',
    default: 100_000,
    min: 10_000,
    max: 10_000_000,
    doc: 'points that one edge may ever list, equipment of one building, and series in it that are of no point; an appliance lists at most 10,000 at a time',
  },
  SERVICE_EDGE_MAX_STREAMS: {
    kind: 'integer',
    default: 1000,
    min: 10,
    max: 100_000,
    doc: 'streams that one edge may ever begin; an appliance begins one with each new disk',
  },
  SERVICE_EDGE_MAX_FINDINGS: {
    kind: 'integer',
    default: 500_000,
    min: 1000,
    max: 100_000_000,
    doc: 'findings of all buildings that an edge has reported for, up to which it adds new ones; a large building has some ten thousand a year',
  },
} as const satisfies VariableTable

export const edgeLimits = (settings: Settings<typeof EDGE_LIMIT_VARIABLES>): EdgeLimits => ({
  buildings: settings.SERVICE_EDGE_MAX_BUILDINGS,
  points: settings.SERVICE_EDGE_MAX_POINTS,
  streams: settings.SERVICE_EDGE_MAX_STREAMS,
  findings: settings.SERVICE_EDGE_MAX_FINDINGS,
})

/** All operations that a hub asks of an edge by its connectors. Over MQTT the name of the operation replaces the route. */
import type { Static } from '@sinclair/typebox'
import { PRIORITY_OPERATIONS } from '#shared/core/priority/priority-wire.ts'
import { INSPECTION_OPERATIONS } from './inspection-wire.ts'

export const OPERATIONS = { ...PRIORITY_OPERATIONS, ...INSPECTION_OPERATIONS } as const
export type Operation = keyof typeof OPERATIONS
export type PriorityOperation = keyof typeof PRIORITY_OPERATIONS
export type InspectionOperation = keyof typeof INSPECTION_OPERATIONS
export type RequestOf<O extends Operation> = Static<(typeof OPERATIONS)[O]['request']>
export type AnswerOf<O extends Operation> = Static<(typeof OPERATIONS)[O]['answer']>

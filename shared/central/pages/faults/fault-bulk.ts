/** Acknowledging, snoozing and assigning several faults at once; the page then says what was done and takes it back. */
import { type Static, Type } from '@sinclair/typebox'
import type { FindingNote } from '#shared/core/findings/finding.ts'
import { SNOOZE_SCOPES, snoozeId, type SnoozeScope, snoozeTarget } from '#shared/core/findings/snooze.ts'
import { Problem } from '#shared/core/problem.ts'
import { HOUR } from '#shared/core/time.ts'
import { oneOf } from '#shared/node/http/route.ts'
import type { Actor } from '#shared/central/commands/command.ts'
import { acknowledge, assign, ASSIGNEE_MAX, NOTE_TEXT } from '#shared/central/commands/notes.ts'
import { inForce, snooze, SNOOZE_MAX } from '#shared/central/commands/snoozes.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { type BulkAction, BULK_ACTIONS, type FaultsDone } from './faults-model.ts'

/** As many as one page of the list shows. */
const FAULTS_MAX = 100
const ID = Type.String({ minLength: 1, maxLength: 128 })

/** Each chosen fault is a field of its own, named by its id. */
export const BulkForm = Type.Object(
  {
    action: oneOf(BULK_ACTIONS),
    back: Type.Optional(Type.String({ maxLength: 2000 })),
    hours: Type.Optional(Type.Integer({ minimum: 1, maximum: SNOOZE_MAX / HOUR })),
    assignee: Type.Optional(Type.String({ maxLength: ASSIGNEE_MAX })),
    scope: Type.Optional(oneOf(SNOOZE_SCOPES)),
    reason: Type.Optional(NOTE_TEXT),
  },
  { additionalProperties: ID },
)
/** What the address of the page says of the last action, until the next click. */
export const DONE = {
  done: Type.Optional(oneOf(BULK_ACTIONS)),
  count: Type.Optional(Type.Integer({ minimum: 0, maximum: FAULTS_MAX })),
  scope: Type.Optional(oneOf(SNOOZE_SCOPES)),
  undo: Type.Optional(Type.String({ maxLength: FAULTS_MAX * 129 })),
}

type BulkContext = Pick<CentralContext, 'findings' | 'notes' | 'snoozes' | 'clock'>

/** @throws Problem bad_request for none or too many, or for nobody to assign to; unknown_finding before anything is changed */
export function changeFaults(
  context: BulkContext,
  actor: Actor,
  { action, back: _back, hours = 24, assignee = '', scope, reason, ...chosen }: Static<typeof BulkForm>,
): FaultsDone {
  const finding_ids = Object.values(chosen as Record<string, string>)
  if (finding_ids.length === 0) throw new Problem('bad_request', 'No fault is chosen')
  if (finding_ids.length > FAULTS_MAX) throw new Problem('bad_request', `At most ${FAULTS_MAX} faults are changed at once`)
  if (action === 'assign' && assignee.trim() === '') throw new Problem('bad_request', 'Say whom the faults are assigned to')
  const unknown = finding_ids.find(id => context.findings.get(id) === undefined)
  if (unknown !== undefined) throw new Problem('unknown_finding', `There is no finding ${unknown}`)
  const done: FaultsDone = { action, count: 0, finding_ids: [], ...(scope && { scope }) }
  /** Of several faults that one snooze covers, the first sets it. */
  const covered = new Set<string>()
  for (const finding of finding_ids.map(id => context.findings.get(id)!)) {
    const { finding_id } = finding
    const before = context.notes.get(finding_id)
    if (!isChanged(action, before)) continue
    done.count++
    const target = snoozeTarget(finding, scope ?? 'episode')
    if (action === 'snooze' || action === 'wake') {
      if (covered.has(snoozeId(target))) continue
      covered.add(snoozeId(target))
    }
    const isNew = inForce(context, target) === undefined
    change(context, actor, finding_id, { action, hours, assignee, scope, reason })
    if (isPlain(action, before, isNew)) done.finding_ids.push(finding_id)
  }
  return done
}

type Change = {
  action: BulkAction
  hours: number
  assignee: string
  scope: SnoozeScope | undefined
  reason: string | undefined
}

function change(context: BulkContext, actor: Actor, finding_id: string, { action, hours, assignee, ...given }: Change): unknown {
  switch (action) {
    case 'ack':
    case 'unack':
      return acknowledge(context, actor, finding_id, { ack: action === 'ack' })
    case 'snooze':
      return snooze(context, actor, finding_id, { until: context.clock.now() + hours * HOUR, ...given })
    case 'wake':
      return snooze(context, actor, finding_id, { until: null, scope: given.scope })
    case 'assign':
    case 'unassign':
      return assign(context, actor, finding_id, action === 'assign' ? assignee : '')
  }
}

/** What is so already is not written again. */
const isChanged = (action: BulkAction, { ack }: FindingNote): boolean =>
  action === 'ack' ? ack === 'unacked' : action === 'unack' ? ack === 'acked' : true

/** Whether taking the action back leaves all as it was before: an earlier snooze or assignee would be lost. */
const isPlain = (action: BulkAction, { assignee }: FindingNote, isNewSnooze: boolean): boolean =>
  action === 'ack' || (action === 'snooze' && isNewSnooze) || (action === 'assign' && assignee === undefined)

/** @returns the address of the list with what was done */
export function withDone(back: string, { action, count, finding_ids, scope }: FaultsDone): string {
  const done = new URLSearchParams({ done: action, count: String(count), undo: finding_ids.join(','), ...(scope && { scope }) })
  return `${back}${back.includes('?') ? '&' : '?'}${done}`
}

export const readDone = ({
  done,
  count = 0,
  undo = '',
  scope,
}: {
  done?: BulkAction
  count?: number
  undo?: string
  scope?: SnoozeScope
}): FaultsDone | undefined =>
  done && { action: done, count, finding_ids: undo.split(',').filter(Boolean).slice(0, FAULTS_MAX), ...(scope && { scope }) }

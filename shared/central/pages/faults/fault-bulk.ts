/** Acknowledging, snoozing and assigning several faults at once; the page then says what was done and takes it back. */
import { type Static, Type } from '@sinclair/typebox'
import type { FindingNote } from '#shared/core/findings/finding.ts'
import { Problem } from '#shared/core/problem.ts'
import { HOUR } from '#shared/core/time.ts'
import { oneOf } from '#shared/node/http/route.ts'
import type { Actor } from '#shared/central/commands/command.ts'
import { acknowledge, assign, ASSIGNEE_MAX, snooze, SNOOZE_MAX } from '#shared/central/commands/notes.ts'
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
  },
  { additionalProperties: ID },
)
/** What the address of the page says of the last action, until the next click. */
export const DONE = {
  done: Type.Optional(oneOf(BULK_ACTIONS)),
  count: Type.Optional(Type.Integer({ minimum: 0, maximum: FAULTS_MAX })),
  undo: Type.Optional(Type.String({ maxLength: FAULTS_MAX * 129 })),
}

type BulkContext = Pick<CentralContext, 'findings' | 'notes' | 'clock'>

/** @throws Problem bad_request for none or too many, or for nobody to assign to; unknown_finding before anything is changed */
export function changeFaults(
  context: BulkContext,
  actor: Pick<Actor, 'audit'>,
  { action, back: _back, hours = 24, assignee = '', ...chosen }: Static<typeof BulkForm>,
): FaultsDone {
  const finding_ids = Object.values(chosen as Record<string, string>)
  if (finding_ids.length === 0) throw new Problem('bad_request', 'No fault is chosen')
  if (finding_ids.length > FAULTS_MAX) throw new Problem('bad_request', `At most ${FAULTS_MAX} faults are changed at once`)
  if (action === 'assign' && assignee.trim() === '') throw new Problem('bad_request', 'Say whom the faults are assigned to')
  const unknown = finding_ids.find(id => context.findings.get(id) === undefined)
  if (unknown !== undefined) throw new Problem('unknown_finding', `There is no finding ${unknown}`)
  const done: FaultsDone = { action, count: 0, finding_ids: [] }
  for (const finding_id of finding_ids) {
    const before = context.notes.get(finding_id)
    if (!isChanged(action, before)) continue
    change(context, actor, finding_id, { action, hours, assignee })
    done.count++
    if (isPlain(action, before)) done.finding_ids.push(finding_id)
  }
  return done
}

function change(
  context: BulkContext,
  actor: Pick<Actor, 'audit'>,
  finding_id: string,
  { action, hours, assignee }: { action: BulkAction; hours: number; assignee: string },
): unknown {
  switch (action) {
    case 'ack':
    case 'unack':
      return acknowledge(context, actor, finding_id, { ack: action === 'ack' })
    case 'snooze':
      return snooze(context, actor, finding_id, context.clock.now() + hours * HOUR)
    case 'wake':
      return snooze(context, actor, finding_id, null)
    case 'assign':
    case 'unassign':
      return assign(context, actor, finding_id, action === 'assign' ? assignee : '')
  }
}

/** What is so already is not written again. */
const isChanged = (action: BulkAction, { ack }: FindingNote): boolean =>
  action === 'ack' ? ack === 'unacked' : action === 'unack' ? ack === 'acked' : true

/** Whether taking the action back leaves the note as it was before: an earlier snooze or assignee would be lost. */
const isPlain = (action: BulkAction, { snoozed_until, assignee }: FindingNote): boolean =>
  action === 'ack' || (action === 'snooze' && snoozed_until === undefined) || (action === 'assign' && assignee === undefined)

/** @returns the address of the list with what was done */
export function withDone(back: string, { action, count, finding_ids }: FaultsDone): string {
  const done = new URLSearchParams({ done: action, count: String(count), undo: finding_ids.join(',') })
  return `${back}${back.includes('?') ? '&' : '?'}${done}`
}

export const readDone = ({
  done,
  count = 0,
  undo = '',
}: {
  done?: BulkAction
  count?: number
  undo?: string
}): FaultsDone | undefined => done && { action: done, count, finding_ids: undo.split(',').filter(Boolean).slice(0, FAULTS_MAX) }

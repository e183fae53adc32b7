/** Commands on findings: acknowledge, note, assign, and mark as not a fault. The page and the API both call them. */
import { Type } from '@sinclair/typebox'
import type { Finding, FindingNote } from '#shared/core/findings/finding.ts'
import { needFinding } from '#shared/core/lookup.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { type Actor, NOTE_MAX } from './command.ts'

/** A note or a reason; an empty one removes what was there. */
export const NOTE_TEXT = Type.String({ maxLength: NOTE_MAX })
/** Longest name of who looks after a finding. */
export const ASSIGNEE_MAX = 128

type NoteContext = Pick<CentralContext, 'findings' | 'notes'>
type Noted = { finding: Finding; note: FindingNote }
type NoteActor = Pick<Actor, 'audit'>

/** @throws Problem unknown_finding */
export const acknowledge = (
  context: NoteContext,
  actor: NoteActor,
  finding_id: string,
  { ack = true, assignee }: { ack?: boolean; assignee?: string },
): Noted =>
  changeNote(context, actor, finding_id, note => ({
    ...note,
    ack: ack ? 'acked' : 'unacked',
    ...(assignee !== undefined && { assignee }),
  }))

/** @param assignee who looks after it; empty for nobody. @throws Problem unknown_finding */
export const assign = (context: NoteContext, actor: NoteActor, finding_id: string, assignee: string): Noted =>
  changeNote(context, actor, finding_id, note => withText(note, 'assignee', assignee))

/** @throws Problem unknown_finding */
export const writeNote = (context: NoteContext, actor: NoteActor, finding_id: string, text: string): Noted =>
  changeNote(context, actor, finding_id, note => withText(note, 'note', text))

/** @param reason null or an empty text says that it is a fault after all. @throws Problem unknown_finding */
export const markNotAFault = (context: NoteContext, actor: NoteActor, finding_id: string, reason: string | null): Noted =>
  changeNote(context, actor, finding_id, note => withText(note, 'not_a_fault', reason ?? ''))

/** Changes the note of a finding and writes the audit row. */
function changeNote(
  { findings, notes }: NoteContext,
  { audit }: NoteActor,
  finding_id: string,
  change: (note: FindingNote) => FindingNote,
): Noted {
  const finding = needFinding(findings, finding_id)
  const before = notes.get(finding_id)
  const note = change(before)
  notes.set(note)
  audit({ subject: finding_id, building_id: finding.building_id, before, after: note })
  return { finding, note }
}

/** An empty text removes the field. */
function withText(note: FindingNote, field: 'note' | 'not_a_fault' | 'assignee', text: string): FindingNote {
  const { [field]: _old, ...rest } = note
  return text.trim() ? { ...rest, [field]: text.trim() } : rest
}

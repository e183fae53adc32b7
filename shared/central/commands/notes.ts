/** Commands on findings: acknowledge, note, assign, and mark as not a fault. The page and the API both call them. */
import { Type } from '@sinclair/typebox'
import type { Finding, FindingNote } from '#shared/core/findings/finding.ts'
import { needFinding } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
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

/**
 * @param assignee who looks after it; empty for nobody
 * @param was the one whom the person saw, if that is known
 * @throws Problem unknown_finding; conflict when somebody else has been assigned meanwhile
 */
export const assign = (context: NoteContext, actor: NoteActor, finding_id: string, assignee: string, was?: string): Noted =>
  changeNote(context, actor, finding_id, note => {
    if (isOverwritten(note.assignee, assignee, was)) {
      throw new Problem('conflict', `It was assigned to “${note.assignee ?? ''}” meanwhile. “${assignee}” was not stored.`)
    }
    return withText(note, 'assignee', assignee)
  })

/**
 * @param was the note that the person saw, if that is known
 * @throws Problem unknown_finding; conflict, with both texts, when the note was changed meanwhile
 */
export const writeNote = (context: NoteContext, actor: NoteActor, finding_id: string, text: string, was?: string): Noted =>
  changeNote(context, actor, finding_id, note => {
    if (isOverwritten(note.note, text, was)) {
      throw new Problem('conflict', `The note was changed meanwhile: “${note.note ?? ''}”. Yours was not stored: “${text}”.`)
    }
    return withText(note, 'note', text)
  })

/** Whether a text would replace one that its writer has not seen. A form sends other line ends than it was given. */
function isOverwritten(held: string | undefined, text: string, was: string | undefined): boolean {
  const same = (a: string, b: string) => a.replaceAll('\r', '').trim() === b.replaceAll('\r', '').trim()
  return was !== undefined && !same(held ?? '', was) && !same(held ?? '', text)
}

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

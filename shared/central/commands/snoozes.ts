/** Commands on snoozes, which the pages and the API both call. */
import type { Finding } from '#shared/core/findings/finding.ts'
import {
  snoozeScope,
  type Snooze,
  type SnoozeScope,
  snoozeId,
  snoozeSubject,
  type SnoozeTarget,
  snoozeTarget,
  type ShownNote,
} from '#shared/core/findings/snooze.ts'
import { needBuilding, needEquipment, needFinding, needRule } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import { DAY } from '#shared/core/time.ts'
import type { CentralContext, Reading } from '#shared/central/context.ts'
import type { Actor } from './command.ts'

/** Longest snooze, so that it always ends. */
export const SNOOZE_MAX = 30 * DAY
/** Snoozes that a list shows: more than anybody keeps an eye on. */
export const SNOOZES_MAX = 1000

type Context = Pick<CentralContext, 'findings' | 'notes' | 'snoozes' | 'clock'>
type AheadContext = Pick<CentralContext, 'snoozes' | 'clock'> & Reading<Pick<CentralContext, 'model' | 'rules'>>
type SnoozeAsked = { until: number | null; reason?: string | undefined; scope?: SnoozeScope | undefined }

/**
 * Keeps quiet what `scope` covers at a finding (default: the finding), in place of an earlier snooze of the same scope.
 *
 * @param until ms; null ends the snooze of that scope, without a scope those of the finding and of its fault
 * @throws Problem unknown_finding; invalid for an end that is past or too far, or for no reason where more than the finding is meant
 */
export function snooze(
  context: Context,
  actor: Actor,
  finding_id: string,
  { until, reason = '', scope }: SnoozeAsked,
): { finding: Finding; note: ShownNote } {
  const finding = needFinding(context.findings, finding_id)
  const now = context.clock.now()
  if (until === null) {
    const ended = ([scope ?? ['episode', 'fault']].flat() as SnoozeScope[]).filter(one => {
      const found = inForce(context, snoozeTarget(finding, one))
      if (found) end(context, actor, found)
      return found !== undefined
    })
    if (ended.length === 0) actor.audit({ subject: finding_id, building_id: finding.building_id, before: {}, after: {} })
  } else begin(context, actor, snoozeTarget(finding, scope ?? 'episode'), until, reason.trim())
  return { finding, note: context.notes.of(finding, now) }
}

/**
 * Keeps quiet what has not been found yet: before work on an equipment, or a rule in a building. Either of the two is named, or both.
 *
 * @param until ms
 * @throws Problem unknown_building, unknown_equipment, unknown_rule, and invalid as `snooze` throws it
 */
export async function snoozeAhead(
  context: AheadContext,
  actor: Actor,
  {
    until,
    reason,
    ...target
  }: Pick<SnoozeTarget, 'building_id' | 'equipment_id' | 'rule_id'> & { until: number; reason: string },
): Promise<Snooze> {
  const { building_id, equipment_id, rule_id } = target
  if (equipment_id === undefined && rule_id === undefined)
    throw new Problem('invalid', 'Name an equipment, a rule, or both: a whole building is not snoozed')
  needBuilding(context.model, building_id)
  if (equipment_id !== undefined) needEquipment(context.model, building_id, equipment_id)
  if (rule_id !== undefined) needRule((await context.rules.catalogue()).byId, rule_id)
  begin(context, actor, target, until, reason.trim())
  return context.snoozes.get(snoozeId(target))!
}

/** The snooze of exactly this target that is in force. */
export function inForce({ snoozes, clock }: Pick<Context, 'snoozes' | 'clock'>, target: SnoozeTarget): Snooze | undefined {
  const found = snoozes.get(snoozeId(target))
  return found && found.ended_at === undefined && found.until > clock.now() ? found : undefined
}

/** Ends a snooze before its time. @throws Problem not_found */
export function endSnooze(context: Context, actor: Actor, snooze_id: string): Snooze {
  const found = context.snoozes.get(snooze_id)
  if (!found || !inForce(context, found)) throw new Problem('not_found', 'This snooze is over')
  return end(context, actor, found)
}

/** Takes up a snooze that was ended early, as it was. @throws Problem not_found once its time is over */
export function resumeSnooze({ snoozes, clock }: Context, { audit }: Actor, snooze_id: string): Snooze {
  const found = snoozes.get(snooze_id)
  const now = clock.now()
  if (!found || found.until <= now) throw new Problem('not_found', 'This snooze is over')
  const { ended_at: _ended, ...resumed } = found
  snoozes.put(resumed, now)
  audit({ subject: snoozeSubject(found), building_id: found.building_id, before: {}, after: saidOf(resumed) })
  return resumed
}

function begin(
  context: Pick<Context, 'snoozes' | 'clock'>,
  { caller, audit }: Actor,
  target: SnoozeTarget,
  until: number,
  reason: string,
): void {
  const now = context.clock.now()
  if (until <= now) throw new Problem('invalid', 'A snooze ends in the future', [{ pointer: '/until', message: 'is past' }])
  if (until - now > SNOOZE_MAX)
    throw new Problem('invalid', 'A snooze lasts at most 30 days', [{ pointer: '/until', message: 'is too far' }])
  if (reason === '' && target.finding_id === undefined)
    throw new Problem('invalid', 'Say why: this also silences what has not been found yet', [
      { pointer: '/reason', message: 'is missing' },
    ])
  const before = inForce(context, target)
  const made = { until, created_by: caller!.subject, created_at: now, ...(reason !== '' && { reason }) }
  const snooze: Snooze = { ...target, snooze_id: snoozeId(target), ...made }
  context.snoozes.put(snooze, now)
  audit({ subject: snoozeSubject(target), building_id: target.building_id, before: saidOf(before), after: saidOf(snooze) })
}

function end({ snoozes, clock }: Context, { audit }: Actor, found: Snooze): Snooze {
  const now = clock.now()
  const ended = { ...found, ended_at: now }
  snoozes.put(ended, now)
  audit({ subject: snoozeSubject(found), building_id: found.building_id, before: saidOf(found), after: {} })
  return ended
}

/** What an audit row says of a snooze, in the fields of a note. */
const saidOf = (snooze: Snooze | undefined): Partial<ShownNote> =>
  snooze === undefined
    ? {}
    : {
        snoozed_until: snooze.until,
        ...(snooze.reason !== undefined && { snooze_reason: snooze.reason }),
        snooze_scope: snoozeScope(snooze),
      }

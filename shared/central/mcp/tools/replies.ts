/** Records as the API answers them, as far as several tools read them. The types are those of the routes themselves. */
import type { findingView, runStateView } from '#shared/central/api/record-views.ts'
import type { RuleView } from '#shared/central/fdd/rule-views.ts'

export type FindingReply = ReturnType<typeof findingView>
export type RunRow = ReturnType<typeof runStateView>
/** A rule as the list answers it. */
export type RuleRow = Omit<RuleView, 'gate' | 'lets' | 'each' | 'condition'> & {
  active: boolean
  changed_by?: string
  changed_at?: string
}
/** A rule as its own route answers it. */
export type RuleReply = RuleRow & Pick<RuleView, 'condition' | 'lets' | 'gate'>

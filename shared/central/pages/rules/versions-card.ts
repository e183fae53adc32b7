/** The texts that a rule had, with who deployed each and when, and the way back to one of them. */
import { type Html, html } from '#shared/node/http/html.ts'
import { SHIPPED } from '#shared/central/commands/rules.ts'
import { csrfField, type User } from '#shared/central/ui/frame.ts'
import { rulePath } from '#shared/central/ui/links.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { editorHref } from './rule-words.ts'
import { say } from '#shared/node/http/language.ts'

/** Without its text. `is_current`: the rule that counts now. */
export type ListedVersion = { sha256: string; deployed_by: string | null; deployed_at: number | null; is_current: boolean }
export type VersionsModel = {
  /** The one that was deployed last first. */
  versions: ListedVersion[]
  /** Whether the program ships a rule of this id, and whether that one counts. */
  shipped: boolean
  origin: 'shipped' | 'own' | 'override'
  here: Here
  user: User | undefined
  csrf: string
}

/** Nothing is shown of a rule that never had another text. */
export function versionsCard(rule_id: string, model: VersionsModel): Html | false {
  const { versions, shipped, origin, here } = model
  if (versions.length === 0 && origin !== 'override') return false
  return html`<section class="card" id="versions"><h2>Versions</h2><ul class="log">${versions.map(
    version => html`<li>${versionWords(version, here)}${version.is_current && html` <strong>counts now</strong>`}
${!version.is_current && html`${model.user?.mayOperate && html`<a href="${editorHref({ rule: rule_id, version: version.sha256 })}">Look at it</a>`}${goBack(rule_id, model, version.sha256, say`Go back to this text`)}`}</li>`,
  )}${shipped && html`<li>The rule that ships with the program${origin === 'shipped' ? html` <strong>counts now</strong>` : goBack(rule_id, model, SHIPPED, say`Go back to the shipped rule`)}</li>`}</ul></section>`
}

const versionWords = ({ deployed_by, deployed_at }: ListedVersion, here: Here): Html =>
  deployed_by === null || deployed_at === null
    ? html`Stored as a file; who did it is not known`
    : html`Deployed by ${deployed_by}, ${moment(deployed_at, here)}`

/** Opens to what it means before it is done. */
function goBack(rule_id: string, { user, csrf }: VersionsModel, to: string, words: string): Html | false {
  if (!user?.mayOperate) return false
  return html`<details><summary>${words}</summary><p>${to === SHIPPED ? '' : say`Its tests are run first. `}It counts from the next run on; the text that counts now stays in this list.</p>
<form method="post" action="${rulePath(rule_id)}/roll-back">${csrfField(csrf)}<input type="hidden" name="to" value="${to}"><button>${words}</button></form></details>`
}

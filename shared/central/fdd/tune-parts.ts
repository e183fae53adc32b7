import type { TuneParts } from '#shared/flow/tune-param.ts'
import { findRules } from '#shared/node/rule-files.ts'
import type { CentralContext } from '../context.ts'

type Sources = Pick<CentralContext, 'model' | 'paramSettings' | 'rulesDirs'>

/** What setting a parameter needs, with the rules as the folders hold them now. */
export const tuneParts = ({ model, paramSettings, rulesDirs }: Sources): TuneParts => {
  const { shipped, deployed } = rulesDirs()
  return { model, paramSettings, findRules: ids => findRules([shipped, deployed], ids) }
}

import type { TuneParts } from '#shared/flow/fdd/tune-param.ts'
import type { CentralContext } from '../context.ts'
import type { Catalogue } from './rule-views.ts'

type Sources = Pick<CentralContext, 'model' | 'paramSettings' | 'rules'>

/** Everything that setting a parameter needs, with the rules as the folders hold them now. */
export const tuneParts = async (sources: Sources): Promise<TuneParts> => tunePartsOf(sources, await sources.rules.catalogue())

/** As `tuneParts`, for a caller that has the rules at hand. */
export function tunePartsOf({ model, paramSettings }: Sources, { byId }: Catalogue): TuneParts {
  const findRules: TuneParts['findRules'] = ids =>
    new Map([...ids].flatMap(id => (byId.has(id) ? [[id, byId.get(id)!] as const] : [])))
  return { model, paramSettings, findRules }
}

import { definitionOf } from '#shared/core/findings/fault-definition.ts'
import type { CentralContext } from '../context.ts'

/** Makes the table of fault definitions say what the rules say now. */
export async function syncDefinitions({ rules, definitions, clock }: Pick<CentralContext, 'rules' | 'definitions' | 'clock'>) {
  const catalogue = await rules.catalogue()
  return { ...definitions.sync(catalogue.rules.map(definitionOf), clock.now()), errors: catalogue.errors }
}

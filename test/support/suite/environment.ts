import { COMPILED } from '#scripts/lib-start/process.ts'
import { openParsedRules } from '../rules/parsed-rules.ts'

/**
 * What each process of a run of the suite is given. A test file runs in a process of its own and loads some hundred others, which
 * would be compiled again each time.
 */
export const suiteEnvironment = (): Record<string, string> => ({
  // A script that a test calls must not replace packages under the suite.
  PLENUM_NO_SETUP: '1',
  ...COMPILED,
  ...openParsedRules(),
})

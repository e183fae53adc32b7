import { suiteEnvironment } from '../support/suite/environment.ts'
import { longestFirst } from '../support/suite/longest-first.ts'

export default {
  files: ['test/browser/**/*.test.ts'],
  extensions: ['js', 'ts'],
  timeout: '180s',
  workerThreads: false,
  // Two cores wait for pages and timers a third of the time when two files run.
  concurrency: 3,
  // It waits for the minutes of a hub's rounds of alerts.
  sortTestFiles: longestFirst(['silent-box']),
  require: ['./test/support/leak-guard.ts'],
  environmentVariables: suiteEnvironment(),
}

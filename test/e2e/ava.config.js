import { suiteEnvironment } from '../support/suite/environment.ts'
import { longestFirst } from '../support/suite/longest-first.ts'

export default {
  files: ['test/e2e/**/*.test.ts'],
  extensions: ['js', 'ts'],
  timeout: '10m',
  workerThreads: false,
  // Two cores wait for processes and timers most of the time.
  concurrency: 3,
  // They wait for the minutes of a hub's rounds of alerts.
  sortTestFiles: longestFirst(['edge-alerts', 'backlog-alert']),
  require: ['./test/support/leak-guard.ts'],
  environmentVariables: suiteEnvironment(),
}

import { openParsedRules } from './test/support/rules/parsed-rules.ts'

export default {
  files: ['test/**/*.test.ts', '!test/browser/**', '!test/e2e/**', '!test/emulator/**', '!test/cluster/**'],
  extensions: ['js', 'ts'],
  timeout: '120s',
  workerThreads: false,
  // Two cores wait for servers, timers and disks a third of the time when two files run.
  concurrency: 3,
  require: ['./test/support/leak-guard.ts'],
  // A script that a test calls must not replace packages under the suite.
  environmentVariables: { PLENUM_NO_SETUP: '1', ...openParsedRules() },
}

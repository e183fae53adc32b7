import { suiteEnvironment } from './test/support/suite/environment.ts'

export default {
  files: ['test/**/*.test.ts', '!test/browser/**', '!test/e2e/**', '!test/emulator/**', '!test/cluster/**'],
  extensions: ['js', 'ts'],
  timeout: '120s',
  workerThreads: false,
  // Two cores wait for servers, timers and disks a third of the time when two files run.
  concurrency: 3,
  require: ['./test/support/leak-guard.ts'],
  environmentVariables: suiteEnvironment(),
}

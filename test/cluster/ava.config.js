import { suiteEnvironment } from '../support/suite/environment.ts'

export default {
  files: ['test/cluster/**/*.test.ts'],
  extensions: ['js', 'ts'],
  timeout: '15m',
  workerThreads: false,
  concurrency: 1,
  require: ['./test/support/leak-guard.ts'],
  environmentVariables: suiteEnvironment(),
}

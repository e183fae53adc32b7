import { suiteEnvironment } from '../support/suite/environment.ts'

export default {
  files: ['test/emulator/**/*.test.ts'],
  extensions: ['js', 'ts'],
  // Boots without acceleration take a minute each, and an update is watched for five.
  timeout: '6h',
  workerThreads: false,
  concurrency: 1,
  // Each test goes on where the one before has left the box.
  failFast: true,
  environmentVariables: suiteEnvironment(),
}

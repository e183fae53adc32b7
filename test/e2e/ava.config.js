export default {
  files: ['test/e2e/**/*.test.ts'],
  extensions: ['js', 'ts'],
  timeout: '10m',
  workerThreads: false,
  concurrency: 2,
  require: ['./test/support/leak-guard.ts'],
  // A script that a test calls must not replace packages under the suite.
  environmentVariables: { PLENUM_NO_SETUP: '1' },
}

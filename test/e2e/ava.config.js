export default {
  files: ['test/e2e/**/*.test.ts'],
  extensions: ['js', 'ts'],
  timeout: '10m',
  workerThreads: false,
  concurrency: 2,
}

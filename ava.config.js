export default {
  files: ['test/**/*.test.ts', '!test/browser/**', '!test/e2e/**'],
  extensions: ['js', 'ts'],
  timeout: '120s',
  workerThreads: false,
  concurrency: 2,
}

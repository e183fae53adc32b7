export default {
  files: ['test/**/*.test.ts', '!test/browser/**'],
  extensions: ['js', 'ts'],
  timeout: '120s',
  workerThreads: false,
  concurrency: 2,
}

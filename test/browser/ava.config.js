export default {
  files: ['test/browser/**/*.test.ts'],
  extensions: ['js', 'ts'],
  timeout: '180s',
  workerThreads: false,
  concurrency: 2,
}

/** They wait for the minutes of a hub's rounds of alerts, so the others end meanwhile. */
const LONGEST = ['edge-alerts', 'backlog-alert']
const isLongest = file => LONGEST.some(name => file.endsWith(`${name}.test.ts`))

export default {
  files: ['test/e2e/**/*.test.ts'],
  extensions: ['js', 'ts'],
  timeout: '10m',
  workerThreads: false,
  // Two cores wait for processes and timers most of the time.
  concurrency: 3,
  sortTestFiles: (a, b) => isLongest(b) - isLongest(a) || a.localeCompare(b),
  require: ['./test/support/leak-guard.ts'],
  // A script that a test calls must not replace packages under the suite.
  environmentVariables: { PLENUM_NO_SETUP: '1' },
}

/** How exposed systemd finds a unit, where systemd is there. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { testWhere } from '../support/optional.ts'

const ANALYZE = '/usr/bin/systemd-analyze'

/**
 * Registers a test that a unit is little exposed; it names what exposes one that is not.
 *
 * @param path of the unit's file
 * @param max exposure from 0 to 10
 */
export function testExposure(path: string, max: number): void {
  testWhere(existsSync(ANALYZE))(`systemd finds ${basename(path)} little exposed`, t => {
    const report = execFileSync(ANALYZE, ['security', '--offline=true', '--no-pager', path], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(report) ?? []
    const exposing = report.split('\n').filter(line => line.startsWith('✗'))
    t.true(Number(level) <= max, exposing.join('\n'))
    t.log(`${basename(path)}: ${level}`)
  })
}

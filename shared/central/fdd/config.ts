import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorText } from '#shared/core/error-text.ts'
import { makeFolder, replaceFile } from '#shared/node/files.ts'
import type { PlatformConfig, PlatformConfigStore } from '../context.ts'

/** Bounds of the settings, with their reasons: a run an hour at least, a month of history at most. */
export const CONFIG_BOUNDS = { rule_interval_hours: [0.05, 168], lookback_days: [1, 31] } as const

export type PlatformConfigFile = PlatformConfigStore & {
  /** The error of the file as it is now; the last valid settings apply meanwhile. */
  fault(): string | undefined
}

/**
 * The settings of the FDD loop in a JSON file, read each time, so that a manual change takes effect at once.
 *
 * @param defaults values of the settings that the file does not have
 * @throws Error that names the file when it cannot be understood at the start
 */
export function openPlatformConfig(path: string, defaults: PlatformConfig): PlatformConfigFile {
  let good = load(path, defaults)
  let fault: string | undefined
  const read = () => {
    try {
      good = load(path, defaults)
      fault = undefined
    } catch (error) {
      fault = errorText(error)
    }
    return good
  }
  return {
    read,
    fault() {
      read()
      return fault
    },
    async write(config) {
      await makeFolder(dirname(path))
      await replaceFile(path, `${JSON.stringify(config, null, 2)}\n`)
    },
  }
}

function load(path: string, defaults: PlatformConfig): PlatformConfig {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return defaults
    throw error
  }
  const given = parse(path, text)
  const unknown = Object.keys(given).find(name => !Object.hasOwn(defaults, name))
  if (unknown !== undefined)
    throw new Error(`${path}: unknown setting ${unknown}; the settings are ${Object.keys(defaults).join(', ')}`)
  return check(path, { ...defaults, ...given })
}

function parse(path: string, text: string): Partial<PlatformConfig> {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch (error) {
    throw new Error(`${path} is not valid JSON: ${errorText(error)}`, { cause: error })
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new Error(`${path} is not a JSON object`)
  return given
}

function check(path: string, config: PlatformConfig): PlatformConfig {
  if (typeof config.rules_dir !== 'string')
    throw new Error(`${path}: rules_dir takes a path, not ${JSON.stringify(config.rules_dir)}`)
  for (const [name, [min, max]] of Object.entries(CONFIG_BOUNDS)) {
    const value = config[name as keyof typeof CONFIG_BOUNDS]
    if (typeof value !== 'number' || !(value >= min && value <= max)) {
      throw new Error(`${path}: ${name} takes a number from ${min} to ${max}, not ${JSON.stringify(value)}`)
    }
  }
  return config
}

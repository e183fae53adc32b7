/** `packages.yaml`: what of Debian the appliance's image holds. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export type PackageList = {
  suite: string
  packages: string[]
  /** Files of packages that are otherwise not there. */
  files: Readonly<{ [name: string]: string[] }>
  /** Glob patterns of the root, braces allowed. */
  remove: string[]
  /** The same, below the kernel's modules. */
  removeModules: string[]
}

export const readPackageList = (): PackageList => parse(readFileSync('image/packages.yaml', 'utf8')) as PackageList

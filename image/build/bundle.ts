/** Signed updates: RAUC bundles of one root and its kernel, and the keys that sign them. */
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { emptyFolder, run } from './host-commands.ts'
import type { Architecture } from './target.ts'

/** A folder with `ca.pem`, which images trust, and `release.pem` with `release.key`, which sign. */
const AUTHORITY_DAYS = 7305
const RELEASE_DAYS = 1096

/**
 * Makes the keys of a release where there are none. Whoever ships boxes makes them once, on a machine of their own, and keeps
 * `ca.key` away from the build.
 *
 * @returns whether they were made
 */
export function makeSigningKeys(folder: string): boolean {
  if (existsSync(join(folder, 'release.pem'))) return false
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const inFolder = { cwd: folder }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const authority = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign']
  run(
    'openssl',
    [
      'req',
      '-x509',
      ...key,
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
      '-days',
      `${AUTHORITY_DAYS}`,
      '-subj',
      '/CN=Plenum updates',
      ...authority,
    ],
    inFolder,
  )
  run('openssl', ['req', ...key, '-keyout', 'release.key', '-out', 'release.csr', '-subj', '/CN=Plenum release'], inFolder)
  writeFileSync(join(folder, 'release.ext'), 'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n')
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', `${RELEASE_DAYS}`, '-extfile', 'release.ext']
  run('openssl', ['x509', '-req', '-in', 'release.csr', '-out', 'release.pem', ...signed], inFolder)
  for (const name of ['release.csr', 'release.ext', 'ca.srl']) rmSync(join(folder, name))
  run('bash', ['-c', 'chmod 600 "$1"/*.key', 'bash', folder])
  return true
}

type BundleParts = { root: string; kernel: string; arch: Architecture; version: string; keys: string; work: string }

/** @returns the file of a signed bundle; RAUC refuses it where its signature, its blocks or the kind of machine are wrong */
export function packBundle(file: string, { root, kernel, arch, version, keys, work }: BundleParts): string {
  const folder = emptyFolder(join(work, 'bundle'))
  copyFileSync(root, join(folder, 'root.img'))
  copyFileSync(kernel, join(folder, 'kernel.img'))
  const manifest = [
    '[update]',
    `compatible=plenum-${arch}`,
    `version=${version}`,
    '[bundle]',
    'format=verity',
    '[image.rootfs]',
    'filename=root.img',
    '[image.kernel]',
    'filename=kernel.img',
  ]
  writeFileSync(join(folder, 'manifest.raucm'), `${manifest.join('\n')}\n`)
  rmSync(file, { force: true })
  run('rauc', ['bundle', `--cert=${join(keys, 'release.pem')}`, `--key=${join(keys, 'release.key')}`, folder, file])
  return file
}

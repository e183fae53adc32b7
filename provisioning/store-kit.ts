/** Writes a kit where a person wants it, or takes its certificate back. */
import { X509Certificate } from 'node:crypto'
import { constants, existsSync, statSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorText } from '#shared/core/error-text.ts'
import { makeFolder, replaceFile } from '#shared/node/files.ts'
import { serialOf } from '#shared/node/pki/certificate.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { writeKit, zipKit } from '#shared/node/pki/kit-write.ts'
import type { Pki } from '#shared/node/pki/pki-files.ts'

/** A certificate was issued, could not be written and is revoked again. */
export class RolledBack extends Error {
  override name = 'RolledBack'
}

type Written = Omit<Kit, 'key_pem'> & { key_pem?: string }

const isZip = (path: string): boolean => (existsSync(path) ? statSync(path).isFile() : path.endsWith('.zip'))

/** Creates the folder of a kit. Called before its certificate is issued. @throws Error when it cannot be written */
export async function prepareKit(path: string): Promise<void> {
  const folder = isZip(path) ? dirname(path) : path
  if (!isZip(path)) await makeFolder(folder, 0o700)
  await access(folder, constants.W_OK)
}

/**
 * Writes a kit whose certificate was just issued into a folder, or into a ZIP where the path is that of one.
 *
 * @param revoke of the authority that has issued it
 * @throws RolledBack when it cannot be written: nobody has its certificate then, so it is revoked
 */
export async function storeKit(
  { revoke }: Pick<Pki, 'revoke'>,
  kit: Written,
  path: string,
  issued_pem = kit.cert_pem,
): Promise<void> {
  try {
    await (isZip(path) ? replaceFile(path, await zipKit(kit), 0o600) : writeKit(kit, path))
  } catch (error) {
    const serial = serialOf(new X509Certificate(issued_pem).serialNumber)
    await revoke(serial)
    throw new RolledBack(`${errorText(error)}: certificate ${serial} is revoked again`, { cause: error })
  }
}

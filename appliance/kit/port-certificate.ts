/**
 * The certificate of the edge's HTTPS port, which the hub renews over the session for the same key. The kit that a person has put there
 * stays as it is: the renewed certificate is a file beside the renewed kits.
 */
import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRenewalDue } from '#shared/core/auth/certificate-life.ts'
import { Problem } from '#shared/core/problem.ts'
import { makeFolder, replaceFile } from '#shared/node/files.ts'
import { isIssuedBy } from '#shared/node/pki/broker-certificate.ts'
import { isPair, lifeOf, serialOf } from '#shared/node/pki/certificate.ts'
import { type Kit, KIT_EXTRAS } from '#shared/node/pki/kit-read.ts'

type PortPair = Required<Pick<Kit, 'connector_cert_pem' | 'connector_key_pem'>>

/** @param folder of the renewed kits */
export const renewedPortFile = (folder: string): string => join(folder, KIT_EXTRAS.connector_cert_pem)

/**
 * @param kit the one that a person has put there
 * @param folder of the renewed kits
 * @returns the pair of the port, with the renewed certificate when it ends later and belongs to the key; undefined when the kit has none
 */
export async function readPortPair(kit: Partial<Kit>, folder: string): Promise<PortPair | undefined> {
  const { connector_cert_pem, connector_key_pem } = kit
  if (connector_cert_pem === undefined || connector_key_pem === undefined) return undefined
  const file = renewedPortFile(folder)
  const renewed = existsSync(file) ? await readFile(file, 'utf8') : undefined
  const isUsed = renewed !== undefined && isPair(renewed, connector_key_pem) && lifeOf(renewed).to > lifeOf(connector_cert_pem).to
  return { connector_cert_pem: isUsed ? renewed : connector_cert_pem, connector_key_pem }
}

export class PortCertificate {
  readonly #folder: string
  readonly #pair: PortPair

  /** @param folder of the renewed kits; it is created when it is needed */
  constructor(pair: PortPair, folder: string) {
    this.#pair = pair
    this.#folder = folder
  }

  /** The certificate, which the hub is asked to renew. */
  request(): { cert_pem: string } {
    return { cert_pem: this.#pair.connector_cert_pem }
  }

  /**
   * One that has not begun is due as well: the clock of the hub was ahead when it was issued.
   *
   * @param now time of the hub
   * @param ca_pem authorities of the hub: a certificate of another one is for a person to renew
   */
  isRenewalDue(now: number, ca_pem: string): boolean {
    const { connector_cert_pem: cert_pem } = this.#pair
    const life = lifeOf(cert_pem)
    return (life.from > now || isRenewalDue(life, now)) && isIssuedBy(new X509Certificate(cert_pem), ca_pem)
  }

  /**
   * Stores the renewed certificate; the port uses it at once.
   *
   * @returns its serial
   * @throws Problem invalid when it is not for the key of the port, or neither begins earlier nor ends later than the one before
   */
  async install(cert_pem: string): Promise<string> {
    if (!isPair(cert_pem, this.#pair.connector_key_pem)) {
      throw new Problem('invalid', 'The certificate is not for the key of the HTTPS port')
    }
    const [life, before] = [lifeOf(cert_pem), lifeOf(this.#pair.connector_cert_pem)]
    if (life.from >= before.from && life.to <= before.to) {
      throw new Problem('invalid', 'The certificate ends no later than the one that the HTTPS port has')
    }
    await makeFolder(this.#folder, 0o700)
    await replaceFile(renewedPortFile(this.#folder), cert_pem)
    this.#pair.connector_cert_pem = cert_pem
    return serialOf(new X509Certificate(cert_pem).serialNumber)
  }
}

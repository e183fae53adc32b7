/** Bill of materials of an image, CycloneDX 1.6: each package with version, licence where it is named, and its package URL. */
import type { NodePackage } from './application.ts'
import type { DebianPackage } from './package-lock.ts'

type Materials = {
  debian: readonly (DebianPackage & { licences: readonly string[] })[]
  nodePackages: readonly NodePackage[]
  version: string
  seconds: number
}

/** @returns JSON text; the same materials give the same text */
export function billOfMaterials({ debian, nodePackages, version, seconds }: Materials): string {
  const components = [
    ...debian.map(({ name, version: of, arch, sha256, licences }) => ({
      type: 'library',
      name,
      version: of,
      purl: `pkg:deb/debian/${name}@${encodeURIComponent(of)}?arch=${arch}`,
      licenses: licences.map(licence => ({ license: { name: licence } })),
      hashes: [{ alg: 'SHA-256', content: sha256 }],
    })),
    ...nodePackages.map(({ name, version: of, license, integrity }) => ({
      type: 'library',
      name,
      version: of,
      purl: `pkg:npm/${name.replace('@', '%40')}@${of}`,
      licenses: [/[ ()]/.test(license) ? { expression: license } : { license: { name: license } }],
      ...(integrity.startsWith('sha512-') && {
        hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }],
      }),
    })),
  ]
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(seconds * 1000).toISOString(),
      component: { type: 'firmware', name: 'plenum-appliance', version },
    },
    components,
  }
  return `${JSON.stringify(bill, undefined, 2)}\n`
}

/** `scripts/image`: builds the appliance's disk image and its signed updates. */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeSigningKeys } from '#image/build/bundle.ts'
import { build } from '#image/build/build.ts'
import { ARCHITECTURES, type Architecture } from '#image/build/target.ts'
import { errorText } from '#shared/core/error-text.ts'

const USAGE = `scripts/image build [options]     a disk image, a signed update and the bill of materials
  --arch ${ARCHITECTURES.join('|')}    the processor (arm64)
  --out DIR           where they are put (.cache/image)
  --keys DIR          keys that sign updates, made there when there are none; the image trusts ca.pem of it (DIR/keys)
  --as-version V      the version that the image says it has, such as 1.2.3+0123456789ab (the repository's)
Runs as root on Debian; nothing of the target is run, so no emulation is needed.
`
const VERSION = /^\d+\.\d+\.\d+\+[\da-f]{12}$/
const say = (line: string) => process.stdout.write(`${line}\n`)

function main(args: string[]): number {
  const text = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      arch: { ...text, default: 'arm64' },
      out: { ...text, default: '.cache/image' },
      keys: text,
      'as-version': text,
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const [command, ...more] = positionals
  if (command !== 'build' || more.length > 0) throw new Error('name one command: build')
  const arch = ARCHITECTURES.find(one => one === values.arch)
  if (arch === undefined) throw new Error(`--arch takes ${ARCHITECTURES.join(' or ')}, not ${values.arch}`)
  if (values['as-version'] !== undefined && !VERSION.test(values['as-version']))
    throw new Error('--as-version takes 1.2.3+0123456789ab')
  return buildImage(arch, resolve(values.out), values)
}

function buildImage(
  arch: Architecture,
  out: string,
  values: { keys?: string | undefined; 'as-version'?: string | undefined },
): number {
  const started = Date.now()
  const keys = resolve(values.keys ?? join(out, 'keys'))
  if (makeSigningKeys(keys)) say(`signing keys made in ${keys}: whoever has release.key can update every box that trusts ca.pem`)
  const built = build({ arch, out, keys, version: values['as-version'], say })
  say(
    `${built.disk}\n${built.bundle}\n${built.sbom}\nsha256 of the disk ${built.sha256}, ${Math.round((Date.now() - started) / 1000)} s`,
  )
  return 0
}

try {
  process.exitCode = main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`image: ${errorText(error)}\n`)
  process.exitCode = 64
}

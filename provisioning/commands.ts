/** The commands of provisioning: each takes options and a folder, and returns what to print. */
import { nameTable } from '#shared/core/name-table.ts'
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { errorText } from '#shared/core/error-text.ts'
import { formatInstant } from '#shared/core/time.ts'
import { BackupError } from '#shared/node/backup/encryption.ts'
import { restoreBackup } from '#shared/node/backup/restore.ts'
import { replaceFile } from '#shared/node/files.ts'
import { writeKit, zipKit } from '#shared/node/pki/kit-files.ts'
import { KitError, readKit } from '#shared/node/pki/kit-read.ts'
import { makePki, openPki, type Pki, PkiRefusal } from '#shared/node/pki/pki-files.ts'

/** Contract §9. */
const EXIT = { ok: 0, usage: 2, refused: 3, configuration: 78 } as const

type Given = Record<string, string | boolean | undefined>
type Command = {
  usage: string
  options: ParseArgsOptionsConfig
  required: string[]
  run: (given: Given, dir: string, now: () => number) => Promise<string>
}

const place = { tenant: { type: 'string' }, site: { type: 'string' }, edge: { type: 'string' } } as const
const broker = { 'broker-host': { type: 'string' }, 'broker-port': { type: 'string' }, 'hub-url': { type: 'string' } } as const
const days = { days: { type: 'string' } } as const
const out = { out: { type: 'string' } } as const

const COMMANDS = nameTable<Command>({
  ca: {
    usage:
      'ca [--name TEXT] [--days N] [--above FOLDER]    makes the authority (10 years); --above: an intermediate one for a hub',
    options: { name: { type: 'string' }, above: { type: 'string' }, ...days },
    required: [],
    run: async (given, dir, now) => {
      const above = given.above === undefined ? {} : { above: String(given.above) }
      await makePki(dir, {
        name: String(given.name ?? (given.above ? 'Plenum hub' : 'Plenum')),
        now: now(),
        ...above,
        ...daysOf(given),
      })
      return given.above
        ? `the intermediate authority is in ${dir}; that in ${String(given.above)} may now be kept where no network reaches\n`
        : `the authority is in ${dir}; keep ca.key.pem where no network reaches\n`
    },
  },
  broker: {
    usage: 'broker --hosts NAME[,NAME] [--days N]           broker.cert.pem for host names and addresses',
    options: { hosts: { type: 'string' }, ...days },
    required: ['hosts'],
    run: async (given, dir, now) => {
      const { serial } = await (await openPki(dir, now)).broker({ hosts: String(given.hosts).split(','), ...daysOf(given) })
      return `${serial}\n`
    },
  },
  central: {
    usage: 'central [--site ID | --tenants] [--days N]      central.cert.pem for one site, for all, or for all tenants as well',
    options: { site: { type: 'string' }, tenants: { type: 'boolean' }, ...days },
    required: [],
    run: async (given, dir, now) => {
      if (given.tenants && given.site !== undefined) throw new UsageError('--site and --tenants exclude each other')
      const reach = given.tenants ? { site_id: '*', tenants: true as const } : { site_id: String(given.site ?? '*') }
      const { serial } = await (await openPki(dir, now)).central({ ...reach, ...daysOf(given) })
      return `${serial}\n`
    },
  },
  kit: {
    usage:
      'kit [--tenant ID] --site ID --edge ID --broker-host NAME [--broker-port N] [--hub-url URL] --out FILE.zip|FOLDER [--days N]',
    options: { ...place, ...broker, ...days, ...out },
    required: ['site', 'edge', 'broker-host', 'out'],
    run: async (given, dir, now) => {
      const path = String(given.out)
      const kit = await (await openPki(dir, now)).kit({ ...placeOf(given), ...daysOf(given) })
      await (path.endsWith('.zip') ? replaceFile(path, await zipKit(kit), 0o600) : writeKit(kit, path))
      return `${path} holds the key of ${kit.edge.topic_base} until ${kit.edge.not_after}\n`
    },
  },
  connector: {
    usage:
      'connector --kit FOLDER --hosts NAME[,NAME] [--days N]   certificate of the HTTPS port at which the hub calls the edge',
    options: { kit: { type: 'string' }, hosts: { type: 'string' }, ...days },
    required: ['kit', 'hosts'],
    run: async (given, dir, now) => {
      const folder = String(given.kit)
      const kit = await readKit(folder, now())
      const { tenant_id, site_id, edge_id } = kit.edge
      const hosts = String(given.hosts).split(',')
      const connector = { tenant_id, site_id, edge_id, hosts, ...daysOf(given) }
      const { serial, ...pair } = await (await openPki(dir, now)).connector(connector)
      await writeKit({ ...kit, ...pair }, folder)
      return `${serial}\n`
    },
  },
  csr: {
    usage: 'csr --request FILE [--tenant ID] --site ID --edge ID --broker-host NAME [--broker-port N] --out FOLDER [--days N]',
    options: { request: { type: 'string' }, ...place, ...broker, ...days, ...out },
    required: ['request', 'site', 'edge', 'broker-host', 'out'],
    run: async (given, dir, now) => {
      const csr_pem = await readFile(String(given.request), 'utf8')
      const kit = await (await openPki(dir, now)).sign({ csr_pem, ...placeOf(given), ...daysOf(given) })
      await writeKit(kit, String(given.out))
      return `${String(given.out)} holds the certificate; put the key beside it as edge.key.pem\n`
    },
  },
  renew: {
    usage: 'renew --kit FOLDER [--days N]                   a new certificate for the same key',
    options: { kit: { type: 'string' }, ...days },
    required: ['kit'],
    run: async (given, dir, now) => {
      const kit = await readKit(String(given.kit), now())
      const serial = new X509Certificate(kit.cert_pem).serialNumber
      const renewed = await (await openPki(dir, now)).renew({ kit, serial, ...daysOf(given) })
      await writeKit(renewed, String(given.kit))
      return `${String(given.kit)} lasts until ${renewed.edge.not_after}\n`
    },
  },
  revoke: {
    usage: 'revoke SERIAL                                   puts a certificate on crl.pem, which brokers read',
    options: {},
    required: ['SERIAL'],
    run: async (given, dir, now) => {
      const { cn, revoked_at } = await (await openPki(dir, now)).revoke(String(given.SERIAL))
      return `${cn} was revoked at ${formatInstant(revoked_at ?? now())}\n`
    },
  },
  restore: {
    usage: 'restore --file FILE --passphrase-file FILE      unpacks a backup into a new workspace (--dir)',
    options: { file: { type: 'string' }, 'passphrase-file': { type: 'string' } },
    required: ['file', 'passphrase-file'],
    run: async (given, dir) => {
      const passphrase = (await readFile(String(given['passphrase-file']), 'utf8')).replace(/\r?\n$/, '')
      const { site_id, created_at, version, files } = await restoreBackup(String(given.file), passphrase, dir)
      return `${dir} holds the workspace of ${site_id} of ${created_at}: ${files} files, written by version ${version}\n`
    },
  },
  list: {
    usage: 'list [--json]                                   every certificate that was issued',
    options: { json: { type: 'boolean' } },
    required: [],
    run: async (given, dir, now) => printList(await (await openPki(dir, now)).list(), given.json === true),
  },
})

const USAGE = `Usage: provisioning/main.ts COMMAND --dir FOLDER [options]

  --dir FOLDER is the folder of the certificate authority; of restore, that of the new workspace.

${Object.values(COMMANDS)
  .map(({ usage }) => `  ${usage}`)
  .join('\n')}

Exit codes: 0 done, 2 usage, 3 refused, 78 a folder or file cannot be read or written.
`

class UsageError extends Error {}

/**
 * Carries out one command line.
 *
 * @param argv command and options, without program and script
 * @returns exit code and the text to print
 */
export async function runCommand(argv: string[], now: () => number): Promise<{ exit: number; text: string }> {
  if (argv.length === 0 || argv.includes('--help')) return { exit: argv.length === 0 ? EXIT.usage : EXIT.ok, text: USAGE }
  try {
    const [name = '', ...rest] = argv
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name]! : undefined
    if (!command) throw new UsageError(`there is no command ${name}`)
    const given = parse(command, rest)
    return { exit: EXIT.ok, text: await command.run(given, String(given.dir), now) }
  } catch (error) {
    return { exit: exitOf(error), text: `${errorText(error)}\n` }
  }
}

function exitOf(error: unknown): number {
  const { code = '', syscall } = error as NodeJS.ErrnoException
  if (error instanceof UsageError || error instanceof RangeError || code.startsWith('ERR_PARSE_ARGS')) return EXIT.usage
  return syscall === undefined || [PkiRefusal, KitError, BackupError].some(refusal => error instanceof refusal)
    ? EXIT.refused
    : EXIT.configuration
}

function parse({ options, required }: Command, argv: string[]): Given {
  const positional = required.find(name => name === name.toUpperCase())
  const { values, positionals } = parseArgs({
    args: argv,
    options: { ...options, dir: { type: 'string' } },
    allowPositionals: positional !== undefined,
  })
  const given: Given = { ...(values as Given), ...(positional ? { [positional]: positionals[0] } : {}) }
  const missing = ['dir', ...required].filter(name => given[name] === undefined)
  if (missing.length > 0) {
    throw new UsageError(`missing: ${missing.map(name => (name === positional ? name : `--${name}`)).join(', ')}`)
  }
  return given
}

function whole(given: Given, name: string, min: number, max: number): number | undefined {
  const text = given[name]
  if (text === undefined) return undefined
  const value = Number(text)
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new UsageError(`--${name} takes a whole number from ${min} to ${max}`)
  }
  return value
}

const daysOf = (given: Given): { days?: number } => {
  const value = whole(given, 'days', 1, 36_525)
  return value === undefined ? {} : { days: value }
}

const placeOf = (given: Given) => ({
  ...(given.tenant === undefined ? {} : { tenant_id: String(given.tenant) }),
  site_id: String(given.site),
  edge_id: String(given.edge),
  broker_host: String(given['broker-host']),
  broker_port: whole(given, 'broker-port', 1, 65_535) ?? 8883,
  ...(given['hub-url'] === undefined ? {} : { hub_url: String(given['hub-url']) }),
})

function printList(issued: Awaited<ReturnType<Pki['list']>>, json: boolean): string {
  if (json) return `${JSON.stringify(issued)}\n`
  return issued
    .map(({ serial, cn, not_after, revoked_at }) => {
      const state = revoked_at === null ? `until ${formatInstant(not_after)}` : `revoked ${formatInstant(revoked_at)}`
      return `${serial}  ${cn}  ${state}\n`
    })
    .join('')
}

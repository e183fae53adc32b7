/** The commands of provisioning: each takes options and a folder, and returns what to print. */
import { X509Certificate } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { isDeepStrictEqual, type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { commonName } from '#shared/core/auth/identity.ts'
import { errorText } from '#shared/core/error-text.ts'
import { countOf } from '#shared/core/number-text.ts'
import { resultFile, STICK_FILES } from '#shared/core/system/stick-files.ts'
import { readSystem } from '#shared/core/system/system-file.ts'
import { nameTable } from '#shared/core/name-table.ts'
import { formatInstant } from '#shared/core/time.ts'
import { BackupError } from '#shared/node/backup/encryption.ts'
import { restoreBackup } from '#shared/node/backup/restore.ts'
import { makeFolder, replaceFile, unlessMissing } from '#shared/node/files.ts'
import { type Kit, KitError, readKit, readKitOfAnyTime } from '#shared/node/pki/kit-read.ts'
import { serialOf } from '#shared/node/pki/certificate.ts'
import type { MosquittoList } from '#shared/node/pki/mosquitto-list.ts'
import { PkiBusy, withPkiLock } from '#shared/node/pki/pki-lock.ts'
import { type IssuedRecord, makePki, openPki, type Pki, PKI_FILES, PkiRefusal } from '#shared/node/pki/pki-files.ts'
import { daysOf, type GivenOptions, readHosts, placeOf, UsageError } from './options.ts'
import { prepareKit, RolledBack, storeKit } from './store-kit.ts'

/** Contract §9. */
const EXIT = { ok: 0, usage: 2, refused: 3, timeout: 4, rolledBack: 5, configuration: 78 } as const
/** A passphrase that is shorter is guessed. */
const PASSPHRASE_MIN = 12

/** What a command did: for people, and with `--json` for programs. */
type Outcome = { text: string; json: Record<string, unknown> }
type Command = {
  usage: string
  options: ParseArgsOptionsConfig
  required: string[]
  /** Changes nothing in the folder, so it waits for nobody. */
  readsOnly?: true
  run: (given: GivenOptions, place: Place) => Promise<Outcome>
}
/** The folder of the command, and the authority in it. */
type Place = { dir: string; now: () => number; open: () => Promise<Pki>; passphrase: string | undefined }

const edge = { tenant: { type: 'string' }, site: { type: 'string' }, edge: { type: 'string' } } as const
const broker = { 'broker-host': { type: 'string' }, 'broker-port': { type: 'string' }, 'hub-url': { type: 'string' } } as const
const days = { days: { type: 'string' } } as const
const out = { out: { type: 'string' } } as const
const replace = { replace: { type: 'boolean' } } as const

const COMMANDS = nameTable<Command>({
  ca: {
    usage:
      'ca [--name TEXT] [--days N] [--above FOLDER]    makes the authority (10 years); --above: an intermediate one for a hub',
    options: { name: { type: 'string' }, above: { type: 'string' }, ...days },
    required: [],
    run: (given, place) => makeAuthority(given, place),
  },
  broker: {
    usage: 'broker --hosts NAME[,NAME] [--days N]           broker.cert.pem for host names and addresses',
    options: { hosts: { type: 'string' }, ...days, ...replace },
    required: ['hosts'],
    run: async (given, { open }) => {
      const [pki, hosts] = [await open(), readHosts(given)]
      const held = given.replace ? undefined : await pki.current('broker')
      if (held && hosts.every(host => coversHost(held, host))) return issued(held.serialNumber, false)
      return issued((await pki.broker({ hosts, ...daysOf(given) })).serial, true)
    },
  },
  central: {
    usage: 'central [--site ID | --tenants] [--days N]      central.cert.pem for one site, for all, or for all tenants as well',
    options: { site: { type: 'string' }, tenants: { type: 'boolean' }, ...days, ...replace },
    required: [],
    run: async (given, { open }) => {
      if (given.tenants && given.site !== undefined) throw new UsageError('--site and --tenants exclude each other')
      const reach = given.tenants ? { site_id: '*', tenants: true as const } : { site_id: String(given.site ?? '*') }
      const pki = await open()
      const held = given.replace ? undefined : await pki.current('central')
      if (held?.subject === `CN=${commonName({ kind: 'central', ...reach })}`) return issued(held.serialNumber, false)
      return issued((await pki.central({ ...reach, ...daysOf(given) })).serial, true)
    },
  },
  kit: {
    usage:
      'kit [--tenant ID] --site ID --edge ID --broker-host NAME [--broker-port N] [--hub-url URL] --out FILE.zip|FOLDER [--days N]',
    options: { ...edge, ...broker, ...days, ...out, ...replace },
    required: ['site', 'edge', 'broker-host', 'out'],
    run: (given, place) => makeKit(given, place),
  },
  connector: {
    usage:
      'connector --kit FOLDER --hosts NAME[,NAME] [--days N]   certificate of the HTTPS port at which the hub calls the edge',
    options: { kit: { type: 'string' }, hosts: { type: 'string' }, ...days, ...replace },
    required: ['kit', 'hosts'],
    run: async (given, { open, now }) => {
      const [path, hosts] = [String(given.kit), readHosts(given)]
      const [pki, kit] = [await open(), await readKit(path, now())]
      const { connector_cert_pem: own } = kit
      if (!given.replace && own !== undefined && (await pki.isCurrent(own))) {
        const held = new X509Certificate(own)
        if (hosts.every(host => coversHost(held, host))) return issued(held.serialNumber, false)
      }
      const { tenant_id, site_id, edge_id } = kit.edge
      await prepareKit(path)
      const { serial, ...pair } = await pki.connector({ tenant_id, site_id, edge_id, hosts, ...daysOf(given) })
      await storeKit(pki, { ...kit, ...pair }, path, pair.connector_cert_pem)
      return issued(serial, true)
    },
  },
  csr: {
    usage: 'csr --request FILE [--tenant ID] --site ID --edge ID --broker-host NAME [--broker-port N] --out FOLDER [--days N]',
    options: { request: { type: 'string' }, ...edge, ...broker, ...days, ...out },
    required: ['request', 'site', 'edge', 'broker-host', 'out'],
    run: async (given, { open }) => {
      const [path, place, pki] = [String(given.out), placeOf(given), await open()]
      const request = await readFile(String(given.request))
      await prepareKit(path)
      const csr_pem = request.includes('-----BEGIN') ? request.toString() : request.toString('base64') // Else it is DER.
      const kit = await pki.sign({ csr_pem, ...place, ...daysOf(given) })
      await storeKit(pki, kit, path)
      return kitOutcome(kit, path, true, 'holds the certificate; put the key beside it as edge.key.pem')
    },
  },
  renew: {
    usage:
      'renew --kit FOLDER | --cert FILE [--days N]     a new certificate for the same key: of a kit, or in a file of broker, central or connector',
    options: { kit: { type: 'string' }, cert: { type: 'string' }, ...days },
    required: [],
    run: async (given, { open }) => {
      if ((given.kit === undefined) === (given.cert === undefined)) throw new UsageError('one of --kit and --cert is needed')
      if (given.cert !== undefined) {
        const [file, pki] = [String(given.cert), await open()]
        const { serial, not_after } = await pki.renewFile(file, daysOf(given))
        const until = formatInstant(not_after)
        return { text: `${file} lasts until ${until}\n`, json: { out: file, serial, not_after: until, changed: true } }
      }
      const [path, pki] = [String(given.kit), await open()]
      const kit = await readKitOfAnyTime(path) // One that has ended is renewed too, as that of a broker is.
      await prepareKit(path)
      const serial = new X509Certificate(kit.cert_pem).serialNumber
      const renewed = await pki.renew({ kit, serial, ...daysOf(given) })
      await storeKit(pki, { ...kit, ...renewed }, path)
      return kitOutcome(renewed, path, true, `lasts until ${renewed.edge.not_after}`)
    },
  },
  revoke: {
    usage: 'revoke SERIAL                                   puts a certificate on crl.pem, which brokers read',
    options: {},
    required: ['SERIAL'],
    run: async (given, { open, now }) => {
      const { serial, cn, revoked_at } = await (await open()).revoke(String(given.SERIAL))
      const at = formatInstant(revoked_at ?? now())
      return { text: `${cn} was revoked at ${at}\n`, json: { serial, cn, revoked_at: at } }
    },
  },
  trust: {
    usage:
      'trust --also FILE [--crl FILE] | --only         also trusts the authorities in FILE (ca.cert.pem of another one), or its own alone',
    options: { also: { type: 'string' }, crl: { type: 'string' }, only: { type: 'boolean' } },
    required: [],
    run: (given, place) => trust(given, place),
  },
  'pack-usb': {
    usage:
      'pack-usb [--tenant ID] --site ID --edge ID --broker-host NAME [--broker-port N] --out FOLDER [--system FILE] [--days N]',
    options: { ...edge, ...broker, ...days, ...out, ...replace, system: { type: 'string' } },
    required: ['site', 'edge', 'broker-host', 'out'],
    run: (given, place) => packStick(given, place),
  },
  restore: {
    usage: 'restore --file FILE --passphrase-file FILE      unpacks a backup into a new workspace (--dir)',
    options: { file: { type: 'string' } },
    required: ['file', 'passphrase-file'],
    readsOnly: true,
    run: async (given, { dir, passphrase }) => {
      const restored = await restoreBackup(String(given.file), passphrase!, dir)
      const { site_id, created_at, version, files } = restored
      const text = `${dir} holds the workspace of ${site_id} of ${created_at}: ${files} files, written by version ${version}\n`
      return { text, json: { site_id, created_at, version, files } }
    },
  },
  list: {
    usage: 'list                                            every certificate that was issued',
    options: {},
    required: [],
    readsOnly: true,
    run: async (_given, { open }) => {
      const certificates = await (await open()).list()
      return { text: certificates.map(listLine).join(''), json: { certificates } }
    },
  },
})

async function makeAuthority(given: GivenOptions, { dir, now, passphrase }: Place): Promise<Outcome> {
  const above = given.above === undefined ? undefined : String(given.above)
  const names = {
    name: String(given.name ?? (above === undefined ? 'Plenum' : 'Plenum hub')),
    above: undefined as string | undefined,
  }
  if (names.name.trim() === '') throw new UsageError('--name is empty')
  if (above !== undefined) names.above = (await openPki(above, now, passphrase)).names().name
  const held = await heldAuthority(dir, now, above === undefined ? passphrase : undefined)
  if (held) {
    const isSame = held.above === (names.above ?? held.name) && (given.name === undefined || held.name === names.name)
    if (!isSame) throw new PkiRefusal(`${dir} has an authority already: ${held.name}, signed by ${held.above}`)
    return { text: `the authority is in ${dir} already\n`, json: { dir, ...held, changed: false } }
  }
  const order = { name: names.name, now: now(), passphrase, ...daysOf(given) }
  await makePki(dir, above === undefined ? order : { ...order, above })
  const text =
    above === undefined
      ? `the authority is in ${dir}; keep ca.key.pem where no network reaches\n`
      : `the intermediate authority is in ${dir}; that in ${above} may now be kept where no network reaches\n`
  return { text, json: { dir, name: names.name, above: names.above ?? names.name, changed: true } }
}

/** @returns undefined where the folder has no authority. @throws PkiRefusal when its key cannot be opened */
async function heldAuthority(dir: string, now: () => number, passphrase: string | undefined) {
  return existsSync(join(dir, PKI_FILES.ca.key)) ? (await openPki(dir, now, passphrase)).names() : undefined
}

/** A kit that is there already is kept while it is of the same edge and broker and has a third of its life left. */
async function makeKit(given: GivenOptions, { open, now }: Place): Promise<Outcome> {
  const [path, place, pki] = [String(given.out), placeOf(given), await open()]
  const held = given.replace || !existsSync(path) ? undefined : await readKit(path, now()).catch(() => undefined)
  if (held && isKitOf(held, place) && (await pki.isCurrent(held.cert_pem))) {
    return kitOutcome(held, path, false, `holds the key of ${held.edge.topic_base} already, until ${held.edge.not_after}`)
  }
  await prepareKit(path)
  const kit = await pki.kit({ ...place, ...daysOf(given) })
  await storeKit(pki, kit, path)
  return kitOutcome(kit, path, true, `holds the key of ${kit.edge.topic_base} until ${kit.edge.not_after}`)
}

async function trust({ also, crl, only }: GivenOptions, { dir, open }: Place): Promise<Outcome> {
  if ((also === undefined) === (only === undefined)) throw new UsageError('one of --also and --only is needed')
  const pki = await open()
  const added = async () => ({
    ca_pem: await readFile(String(also), 'utf8'),
    crl_pem: crl === undefined ? undefined : await readFile(String(crl), 'utf8'),
  })
  const lists = () => readFile(join(dir, PKI_FILES.crl), 'utf8')
  const before = await unlessMissing(lists())
  const trusted = await (only ? pki.trustOnlyOwn() : pki.trust(await added()))
  const count = trusted.split('-----BEGIN').length - 1
  const text = `${dir} trusts ${countOf(count, 'certificate')} of authorities; the hub uses them at once\n`
  return { text, json: { dir, trusted: count, changed: trusted !== pki.ca_pem || (!only && before !== (await lists())) } }
}

/** Writes what a box takes from a USB stick: its kit, and its network where it is given. */
async function packStick(given: GivenOptions, place: Place): Promise<Outcome> {
  const folder = String(given.out)
  const system = given.system === undefined ? undefined : await readFile(String(given.system), 'utf8')
  const read = system === undefined ? undefined : readSystem(system)
  if (read && !read.ok) throw new PkiRefusal(`${String(given.system)}: ${read.complaints.join('; ')}`)
  await makeFolder(folder)
  const { json } = await makeKit({ ...given, out: join(folder, STICK_FILES.kit) }, place)
  if (system !== undefined) await replaceFile(join(folder, STICK_FILES.system), system)
  // A box does not take a stick again that has its result.
  for (const name of readdirSync(folder)) if (RESULT.test(name)) await rm(join(folder, name))
  const files = [STICK_FILES.kit, ...(system === undefined ? [] : [STICK_FILES.system])]
  const text = `${folder} holds ${files.join(' and ')}; the stick needs FAT and the label PLENUM\n`
  return { text, json: { ...json, out: folder, files } }
}
const RESULT = new RegExp(`^${resultFile('[A-Za-z0-9-]+')}$`)

const isKitOf = ({ edge: { topic_base: _base, not_after: _end, ...held } }: Kit, place: ReturnType<typeof placeOf>): boolean =>
  isDeepStrictEqual(held, place)

const coversHost = (certificate: X509Certificate, host: string): boolean =>
  (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined

const issued = (serial: string, changed: boolean): Outcome => ({
  text: changed ? `${serialOf(serial)}\n` : `${serialOf(serial)} is valid already\n`,
  json: { serial: serialOf(serial), changed },
})

function kitOutcome({ cert_pem, edge: kitEdge }: Omit<Kit, 'key_pem'>, path: string, changed: boolean, words: string): Outcome {
  const serial = serialOf(new X509Certificate(cert_pem).serialNumber)
  return { text: `${path} ${words}\n`, json: { out: path, serial, not_after: kitEdge.not_after, changed } }
}

function listLine({ serial, cn, not_after, revoked_at }: IssuedRecord): string {
  const state = revoked_at === null ? `until ${formatInstant(not_after)}` : `revoked ${formatInstant(revoked_at)}`
  return `${serial}  ${cn}  ${state}\n`
}

const USAGE = `Usage: provisioning/main.ts COMMAND --dir FOLDER [options]

  --dir FOLDER is the folder of the certificate authority; of restore, that of the new workspace.

${Object.values(COMMANDS)
  .map(({ usage }) => `  ${usage}`)
  .join('\n')}

  Every command takes --json, which prints one line of JSON, and --passphrase-file FILE, which opens the key of the authority
  (of restore, the backup). \`ca --passphrase-file\` stores the new key under it. What is there already and still valid is kept
  ("changed":false), so a script may repeat a command; --replace issues anew.

Exit codes: 0 done, 2 usage, 3 refused, 4 the authority was in use for too long, 5 what was issued could not be written, and is
revoked again, 78 a folder or file cannot be read or written.
`

/**
 * Carries out one command line.
 *
 * @param argv command and options, without program and script
 * @returns exit code and the text to print
 */
export async function runCommand(argv: string[], now: () => number): Promise<{ exit: number; text: string }> {
  if (argv.length === 0 || argv.includes('--help')) return { exit: argv.length === 0 ? EXIT.usage : EXIT.ok, text: USAGE }
  const asJson = argv.includes('--json')
  try {
    const [name = '', ...rest] = argv
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name]! : undefined
    if (!command) throw new UsageError(`there is no command ${name}`)
    const given = parse(command, rest)
    const { text, json } = await carryOut(command, given, now)
    return { exit: EXIT.ok, text: asJson ? `${JSON.stringify({ ok: true, ...json })}\n` : text }
  } catch (error) {
    const exit = exitOf(error)
    const message = errorText(error)
    return { exit, text: asJson ? `${JSON.stringify({ ok: false, exit, error: message })}\n` : `${message}\n` }
  }
}

async function carryOut(command: Command, given: GivenOptions, now: () => number): Promise<Outcome> {
  const dir = String(given.dir)
  const passphrase = await passphraseOf(given)
  const place = { dir, now, passphrase, open: () => openPki(dir, now, passphrase) }
  // A folder without an authority has nothing to lock, and is not written to.
  if (command.readsOnly || !existsSync(join(dir, PKI_FILES.ca.key))) return command.run(given, place)
  return withPkiLock(dir, async () => {
    const outcome = await command.run(given, place)
    return outcome.json['changed'] === false ? outcome : tellMosquitto(outcome, await (await place.open()).mosquittoList())
  })
}

/** Where mosquitto is the broker, it has to read its list again before it lets a new edge send. */
function tellMosquitto({ text, json }: Outcome, list: MosquittoList | undefined): Outcome {
  if (!list) return { text, json }
  const { missing, run } = list
  const state = missing.length === 0 ? 'has been written anew' : `lacks ${missing.join(', ')}`
  return { text: `${text}mosquitto.acl ${state}: ${run}\n`, json: { ...json, mosquitto: { missing, run } } }
}

async function passphraseOf(given: GivenOptions): Promise<string | undefined> {
  const file = given['passphrase-file']
  if (file === undefined) return undefined
  const passphrase = (await readFile(String(file), 'utf8')).replace(/\r?\n$/, '')
  if (passphrase.length < PASSPHRASE_MIN) throw new UsageError(`--passphrase-file: fewer than ${PASSPHRASE_MIN} characters`)
  return passphrase
}

function exitOf(error: unknown): number {
  const { code = '', syscall } = error as NodeJS.ErrnoException
  if (error instanceof PkiBusy) return EXIT.timeout
  if (error instanceof RolledBack) return EXIT.rolledBack
  if (error instanceof UsageError || error instanceof RangeError || code.startsWith('ERR_PARSE_ARGS')) return EXIT.usage
  return syscall === undefined || [PkiRefusal, KitError, BackupError].some(refusal => error instanceof refusal)
    ? EXIT.refused
    : EXIT.configuration
}

function parse({ options, required }: Command, argv: string[]): GivenOptions {
  const positional = required.find(name => name === name.toUpperCase())
  const text = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args: argv,
    options: { ...options, dir: text, 'passphrase-file': text, json: { type: 'boolean' } },
    allowPositionals: positional !== undefined,
  })
  const given: GivenOptions = { ...(values as GivenOptions), ...(positional ? { [positional]: positionals[0] } : {}) }
  const missing = ['dir', ...required].filter(name => given[name] === undefined)
  if (missing.length > 0) {
    throw new UsageError(`missing: ${missing.map(name => (name === positional ? name : `--${name}`)).join(', ')}`)
  }
  const [, unexpected] = positionals
  if (unexpected !== undefined) throw new UsageError(`Unexpected argument '${unexpected}'`)
  daysOf(given) // A wrong number is refused also where nothing has to be issued.
  return given
}

/** What a USB stick brings to a box whose system is ours: the time, its network, its kit for the hub, an update, or the order to forget everything. */
import { createReadStream, existsSync } from 'node:fs'
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { edgeName } from '#shared/core/model/model.ts'
import { errorText } from '#shared/core/error-text.ts'
import { formatInstant, parseInstant } from '#shared/core/time.ts'
import { STICK_FILES } from '#shared/core/system/stick-files.ts'
import { replaceFile } from '#shared/node/files.ts'
import { ageComplaint, readKitOfAnyTime } from '#shared/node/pki/kit-read.ts'
import type { UpdateState } from '#shared/core/update/update-wire.ts'
import { adoptKit } from '../kit/adopt-kit.ts'
import { readSystem } from '#shared/core/system/system-file.ts'
import { openUpdates } from '../system/updates.ts'

/** Where things go on the box. */
type StickPlaces = { stick: string; system: string; kit: string; workspace: string; settings: string; updates: string }
/** What the box has to do then. */
type Wish = 'nothing' | 'restart' | 'reset'
/** `clock`: what the clock of the box has to be set to, ms since 1970 UTC. */
type Taken = { lines: string[]; wish: Wish; clock?: number }
/** `isSynced`: a time server sets it. `notBefore`: when the running version was made, ms. */
type BoxClock = { now: number; isSynced: boolean; notBefore: number }

const READABLE = 0o644

/**
 * Takes what is on the stick. A file that cannot be used changes nothing and is a line of the result, and the others are taken.
 *
 * @param name of the box, which `reset.txt` has to contain
 */
export async function takeStick(places: StickPlaces, name: string, own: BoxClock): Promise<Taken> {
  const has = (file: string) => existsSync(join(places.stick, file))
  if (has(STICK_FILES.reset)) {
    const said = (await readFile(join(places.stick, STICK_FILES.reset), 'utf8')).trim()
    if (said === name) return { lines: [`${STICK_FILES.reset}: everything on this box is erased`], wish: 'reset' }
    return { lines: [`${STICK_FILES.reset}: it names "${said}" and this box is ${name}; nothing is changed`], wish: 'nothing' }
  }
  const lines: string[] = []
  let wish: Wish = 'nothing'
  let clock: number | undefined
  if (has(STICK_FILES.clock)) {
    try {
      clock = readClock(await readFile(join(places.stick, STICK_FILES.clock), 'utf8'), own)
      lines.push(`${STICK_FILES.clock}: the clock is set to ${formatInstant(clock)}`)
    } catch (error) {
      lines.push(`${STICK_FILES.clock} is not used: ${errorText(error)}`)
    }
  }
  for (const [file, take, after] of [
    [STICK_FILES.system, takeSystem, 'restart'],
    [STICK_FILES.kit, takeKit, 'restart'],
    [STICK_FILES.update, takeUpdate, 'nothing'],
  ] as const) {
    if (!has(file)) continue
    try {
      lines.push(`${file}: ${await take(places, clock ?? own.now)}`)
      if (after === 'restart') wish = after
    } catch (error) {
      lines.push(`${file} is not used: ${errorText(error)}`)
    }
  }
  return {
    lines: lines.length > 0 ? lines : [`none of ${Object.values(STICK_FILES).join(', ')} is there`],
    wish,
    ...(clock !== undefined && { clock }),
  }
}

/** @returns what became of the last update of the box, for the result on the stick */
export const lastUpdateLines = (last: UpdateState | undefined): string[] =>
  last === undefined
    ? []
    : [
        `last update: ${[last.state, last.version, last.at, last.reason].filter(part => part !== '').join(' ')}`,
        ...(last.log ?? []).map(line => `its log: ${line}`),
      ]

/** What is said of an update while it is under way is not what becomes of it. */
const UNDER_WAY: ReadonlySet<UpdateState['state']> = new Set(['installing', 'installed', 'trying'])

/**
 * @param result on a stick that was taken before
 * @returns the same with what has become of the last update since; undefined where it says that already
 */
export function resultSince(result: string, last: UpdateState | undefined): string | undefined {
  if (last === undefined || UNDER_WAY.has(last.state)) return undefined
  const lines = lastUpdateLines(last)
  return result.includes(lines[0]!) ? undefined : `${result}${stickText(lines)}`
}

/** Lines as a stick has them, which is read on any machine. */
export const stickText = (lines: readonly string[]): string => lines.map(line => `${line}\r\n`).join('')

/** @throws Error where the text is no instant or an impossible one, or a time server knows better */
function readClock(text: string, { isSynced, notBefore }: BoxClock): number {
  const words = text.trim()
  const at = parseInstant(words)
  if (at === undefined) throw new Error(`"${words}" is no instant in UTC, as 2026-11-24T13:50:00Z`)
  if (at < notBefore) throw new Error(`it is before the version of the box was made, ${formatInstant(notBefore)}`)
  if (isSynced) throw new Error('a time server sets the clock')
  return at
}

async function takeSystem({ stick, system }: StickPlaces): Promise<string> {
  const text = await readFile(join(stick, STICK_FILES.system), 'utf8')
  const read = readSystem(text)
  if (!read.ok) throw new Error(read.complaints.join('; '))
  await replaceFile(join(system, 'system.json'), text, READABLE)
  // What the page asked for is not waited for any more.
  await rm(join(system, 'system.json.before'), { force: true })
  return 'network and clock are set'
}

async function takeKit({ stick, ...places }: StickPlaces, now: number): Promise<string> {
  const path = join(stick, STICK_FILES.kit)
  const kit = await readKitOfAnyTime(path)
  await adoptKit(kit, places)
  // The clock of the box may be wrong: the broker decides whether the certificate is valid.
  const complaint = ageComplaint(kit, Math.max(now, (await stat(path)).mtimeMs))
  const words = `this box is ${edgeName(kit.edge)} and sends to ${kit.edge.broker_host}`
  return complaint === undefined ? words : `${words}; by the clock of this box ${complaint}`
}

async function takeUpdate({ stick, updates }: StickPlaces): Promise<string> {
  const path = join(stick, STICK_FILES.update)
  const { size } = await stat(path)
  await openUpdates(updates).receive(to => pipeline(createReadStream(path), to), { bytes: size, force: false })
  return 'it is received; what becomes of it is written here while the stick stays in'
}

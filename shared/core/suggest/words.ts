/** Splits point names into words, written together or apart, and returns Haystack tags. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import { unitCode } from '#shared/core/model/unit.ts'
import { GERMAN_MEANINGS, plainGerman } from './german.ts'
import { MACHINES_OF, MEANINGS } from './meanings.ts'

type Words = ReadonlyMap<string, string[]>
const wordsOf = (meanings: Readonly<Record<string, string>>) =>
  Object.entries(meanings).flatMap(([words, tags]) =>
    words.split(' ').map(word => [word, tags.split(' ').filter(Boolean)] as const),
  )
const ENGLISH: Words = new Map(wordsOf(MEANINGS))
/** A German name has English words in it, which mean what they do unless they are German ones. */
const WITH_GERMAN: Words = new Map([...ENGLISH, ...wordsOf(GERMAN_MEANINGS)])
/** Minimum length of a word within a word; shorter ones count only alone or at the end: `ZN-T`, `znt`. */
const INNER_MIN = 2
const LONGEST = Math.max(...[...WITH_GERMAN.keys()].map(({ length }) => length))

/** Words, and numbers that follow a word with at most one separator: `P-1`, `CH2`, `Stage 1`. */
const PARTS = /([A-Za-z]+)(?:[-_ ]?(\d+))?/g
/** `S/S`, `s_s`: start and stop. */
const START_STOP = /(?<![A-Za-z0-9])s[^A-Za-z0-9]s(?![A-Za-z0-9])/gi
/** `(degF)`, `[%]` at the end of a header. */
const UNIT_AT_END = /\s*[([]([^()[\]]+)[)\]]$/
/** Minimum length of an equipment name without a number; a shorter one may begin a word by chance. */
const OWN_NAME_MIN = 3

/** The equipment of the point, whose name says nothing of the measured quantity, and whether its points have German names. */
type Place = { equipment_type?: EquipmentType; equipment_names?: readonly string[]; isGerman?: boolean }
export type Reading = { tags: string[]; unread: string[] }

/** @returns the tags of a name, and its unknown parts */
export function readName(name: string, { equipment_type, equipment_names = [], isGerman = false }: Place = {}): Reading {
  const vocabulary = isGerman ? WITH_GERMAN : ENGLISH
  const text = plainGerman(withoutEquipment(bareName(name), equipment_names, vocabulary))
    .replace(/kW(h?)/g, ' kw$1 ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replace(/co2/gi, ' carbondioxide ')
    .replace(START_STOP, ' ss ')
  const machines = (equipment_type && MACHINES_OF[equipment_type]) ?? {}
  const words = [...text.matchAll(PARTS)].flatMap(([, letters = '', number], i) => {
    const word = letters.toLowerCase()
    if (i === 0 && Object.hasOwn(machines, word)) return [machines[word]!]
    // `S-7`, `OAU1`: a number of the equipment, and no word.
    return number !== undefined && (word.length === 1 || !isKnown(word, vocabulary)) ? [] : [word]
  })
  const tags: string[] = []
  const unread: string[] = []
  for (const word of joined(words, vocabulary)) {
    const found = vocabulary.get(word) ?? split(word, vocabulary)
    if (found) tags.push(...found)
    else unread.push(word)
  }
  return { tags: [...new Set(tags)], unread }
}

/** @returns the name without its unit at the end, `SAT (degF)`; other words in brackets stay */
export function bareName(name: string): string {
  const unit = UNIT_AT_END.exec(name.trim())
  return unit && unitCode(unit[1]!) !== undefined ? name.trim().slice(0, unit.index) : name
}

/** Removes the name of the equipment from the front, with any separators: `VAV-3`, `VAV3_`, `vav 3.`. */
function withoutEquipment(name: string, equipment: readonly string[], vocabulary: Words): string {
  for (const own of equipment) {
    const letters = own.replace(/[^A-Za-z0-9]/g, '')
    // The name of equipment `CHW` is not removed from `CHW Supply Temp`.
    if (!/\d/.test(letters) && (letters.length < OWN_NAME_MIN || isKnown(letters.toLowerCase(), vocabulary))) continue
    const pattern = [...letters].join('[^A-Za-z0-9]*')
    const rest = pattern === '' ? undefined : new RegExp(`^[^A-Za-z0-9]*${pattern}[^A-Za-z0-9]+(?=.)`, 'i').exec(name)
    if (rest) return name.slice(rest[0].length)
  }
  return name
}

const isKnown = (word: string, vocabulary: Words): boolean => vocabulary.has(word) || split(word, vocabulary) !== undefined

/** Joins `set point` and `wet bulb` to one word each. */
function joined(parts: string[], vocabulary: Words): string[] {
  const made: string[] = []
  for (let i = 0; i < parts.length; i++) {
    const both = parts[i]! + (parts[i + 1] ?? '')
    const areLong = parts[i]!.length > 1 && (parts[i + 1]?.length ?? 0) > 1
    // `S Fan`, `R Fan`: a letter means supply or return before a fan, and a status elsewhere.
    const whole = parts[i + 1] !== undefined && (areLong || parts[i + 1] === 'fan') && vocabulary.has(both)
    made.push(whole ? both : parts[i]!)
    if (whole) i++
  }
  return made
}

/** Splits words that are written together, such as `supflosp`: the fewest words that cover all of it. */
function split(part: string, vocabulary: Words): string[] | undefined {
  const best: (string[] | undefined)[] = [[]]
  for (let end = 1; end <= part.length; end++) {
    for (let from = Math.max(0, end - LONGEST); from < end; from++) {
      const word = part.slice(from, end)
      const before = best[from]
      const fits = word.length >= INNER_MIN || (end === part.length && from > 0)
      if (!before || !fits || !vocabulary.has(word)) continue
      if (!best[end] || before.length + 1 < best[end]!.length) best[end] = [...before, word]
    }
  }
  return best[part.length]?.flatMap(word => vocabulary.get(word)!)
}

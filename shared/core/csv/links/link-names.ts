/** Proposes which equipment serves another, by folders, names and a single candidate. A person decides; nothing is applied. */
import type { LinkWait } from '#shared/core/rules/report/link-waits.ts'

export type LinkProposal = {
  equipment_id: string
  parent_id: string
  /** 0 to 1; nearly all proposals from 0.85 on are right. */
  confidence: number
  why: string[]
}
/** The names of an equipment in a package. */
export type LinkNames = {
  equipment_id: string
  texts: string[]
  /** Folder of its tables; empty at the root, or where the package has no tables of it. */
  folder: string
  headers: string[]
}
export type LinkEvidence = { parent_id: string; confidence: number; why: string }

/** From this confidence on nearly all proposals are right. */
export const SURE_FROM = 0.85
const SURE = 0.95
/** A header may also be a copy of a point of another handler. */
const BY_HEADERS = 0.85
/** A leading number may also be a floor. */
const BY_MARK = { alike: 0.85, alone: 0.6 }
const BY_HUNDREDS = 0.5
/** A box always has a handler, but the package may leave it out. */
const ONLY_ONE = { box: 0.9, other: 0.6, contradicted: 0.5 }
/** Minimum lead of the best candidate over the next one. */
const CLEAR = 0.1

/** Words of equipment types; the rest of a name identifies the equipment. */
const TYPE_WORDS = new Set(
  'ahu ah rtu ac mau doas air handler handling unit rooftop roof top vav cav box fpb fptu tu terminal zone room rm plant'.split(
    ' ',
  ),
)

/** @returns words and numbers in order, in lower case, numbers without leading zeros */
const tokensOf = (text: string): string[] =>
  (text.toLowerCase().match(/[a-z]+|\d+/g) ?? []).map(token => token.replace(/^0+(?=\d)/, ''))
const markOf = (text: string): string[] => tokensOf(text).filter(token => !TYPE_WORDS.has(token))

/** @param names names of all equipment of the building */
export function proposeByNames(waits: LinkWait[], names: ReadonlyMap<string, LinkNames>): LinkProposal[] {
  return waits.flatMap(wait => {
    const [boxes, servers] = [wait.equipment_ids, wait.server_ids].map(ids => ids.map(id => names.get(id)!))
    const marks = servers!.map(server => ({ id: server.equipment_id, mark: markOf(server.equipment_id) }))
    const byMark = new Map(boxes!.map(box => [box.equipment_id, marks.filter(({ mark }) => leads(box, mark))]))
    // A leading number identifies the handler when all boxes have one; otherwise it may be a floor.
    const allAlike = boxes!.length > 1 && [...byMark.values()].every(found => found.length === 1)
    return boxes!.flatMap(box => {
      const found = servers!.flatMap(server => named(box, server) ?? [])
      const led = byMark.get(box.equipment_id)!.map(({ id }) => ({
        parent_id: id,
        confidence: allAlike ? BY_MARK.alike : BY_MARK.alone,
        why: `${box.equipment_id} begins with the number or name of ${id}${allAlike ? ', as all other boxes do' : ''}`,
      }))
      const hundreds = led.length > 0 ? [] : marks.flatMap(mark => byHundreds(box, mark))
      const only = servers!.length === 1 ? onlyOne(box, servers![0]!, wait) : []
      return best(box.equipment_id, [...found, ...led, ...hundreds, ...only]) ?? []
    })
  })
}

/** The most likely server with all evidence for it; undefined when another one is nearly as likely. */
export function best(equipment_id: string, evidence: LinkEvidence[]): LinkProposal | undefined {
  const [first, second] = [...Map.groupBy(evidence, ({ parent_id }) => parent_id)]
    .map(([parent_id, own]) => ({ parent_id, own, confidence: Math.max(...own.map(({ confidence }) => confidence)) }))
    .toSorted((a, b) => b.confidence - a.confidence)
  if (!first || (second && first.confidence - second.confidence < CLEAR)) return undefined
  const { parent_id, own, confidence } = first
  return { equipment_id, parent_id, confidence, why: own.map(({ why }) => why) }
}

/**
 * Evidence of whole names: the folder of the server contains that of the box, or the name or headers of the box contain
 * that of the server.
 */
function named(box: LinkNames, server: LinkNames): LinkEvidence[] {
  const parent_id = server.equipment_id
  const evidence: LinkEvidence[] = []
  const inFolder = server.folder !== '' && box.folder.startsWith(`${server.folder}/`)
  const segments = box.folder.split('/').slice(0, -1)
  const isSegment = segments.some(segment => server.texts.some(text => sameTokens(tokensOf(segment), tokensOf(text))))
  if (inFolder || isSegment) evidence.push({ parent_id, confidence: SURE, why: `the folder ${box.folder} is below ${parent_id}` })
  const names = server.texts.map(tokensOf).filter(tokens => tokens.length > 1)
  const holds = (text: string) => names.some(name => contains(tokensOf(text), name))
  const text = box.texts.find(holds)
  if (text !== undefined) evidence.push({ parent_id, confidence: SURE, why: `the name ${text} contains ${parent_id}` })
  const count = box.headers.filter(holds).length
  if (count > 0 && count * 2 >= box.headers.length)
    evidence.push({ parent_id, confidence: BY_HEADERS, why: `${count} of ${box.headers.length} headers name ${parent_id}` })
  return evidence
}

/** `VAV-1-03` under `AHU-1`, `VAV-East-2` under `AHU East`. */
function leads(box: LinkNames, mark: string[]): boolean {
  const rest = markOf(box.equipment_id)
  return mark.length > 0 && rest.length > mark.length && mark.every((token, i) => rest[i] === token)
}

/** `VAV-103` under `AHU-1`. */
function byHundreds(box: LinkNames, { id, mark }: { id: string; mark: string[] }): LinkEvidence[] {
  const [number, ...more] = markOf(box.equipment_id)
  const isBelow = mark.length === 1 && more.length === 0 && /^\d{3}$/.test(number ?? '') && number![0] === mark[0]
  return isBelow ? [{ parent_id: id, confidence: BY_HUNDREDS, why: `${number} begins with the number of ${id}` }] : []
}

function onlyOne(box: LinkNames, server: LinkNames, { equipment_type }: LinkWait): LinkEvidence[] {
  const parent_id = server.equipment_id
  const [mark, rest] = [markOf(parent_id), markOf(box.equipment_id)]
  const other = mark.length === 1 && rest.length > 1 && rest[0] !== mark[0]
  const confidence = other ? ONLY_ONE.contradicted : equipment_type === 'vav' ? ONLY_ONE.box : ONLY_ONE.other
  return [{ parent_id, confidence, why: `${parent_id} is the only equipment that can serve it` }]
}

const sameTokens = (a: string[], b: string[]) => a.length === b.length && a.every((token, i) => token === b[i])
const contains = (text: string[], part: string[]) => text.some((_, start) => part.every((token, i) => text[start + i] === token))

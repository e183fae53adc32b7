/** Texts of alerts: the JSON of a webhook, and subject and text of a mail. */
import { type Priority, PRIORITY_WORDS } from '../findings/finding.ts'
import { countOf } from '../number-text.ts'
import { formatInstant } from '../time.ts'
import { wallOf } from '../time-zone.ts'
import type { AlertEvent } from './alert.ts'

/** Findings of one building in the week of a digest. */
export type BuildingWeek = {
  building_id: string
  name: string
  started: number
  ended: number
  open: { title: string; priority: Priority }[]
}
export type Digest = { at: number; timezone: string; buildings: BuildingWeek[]; silent_edges: string[] }
export type AlertMessage = { alert: AlertEvent } | { digest: Digest } | { test: { at: number } }

/** The body of a webhook. */
export function webhookBody(message: AlertMessage, delivery_id: string): object {
  if ('test' in message) return { type: 'test', delivery_id, at: formatInstant(message.test.at) }
  if ('digest' in message) {
    const { at, buildings, silent_edges } = message.digest
    return { type: 'digest', delivery_id, at: formatInstant(at), buildings, silent_edges }
  }
  const { type, at, condition } = message.alert
  const { timezone: _timezone, since, ...rest } = condition
  return { type: `alert.${type}`, delivery_id, at: formatInstant(at), alert: { ...rest, since: formatInstant(since) } }
}

/** Line breaks, control characters, and marks that turn the direction of what follows. */
const NOT_ON_A_LINE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** A name is what a box says: with a line break it could add lines of its own to a mail, such as another page to open. */
const oneLine = (text: string): string => text.replaceAll(NOT_ON_A_LINE, ' ').trim()

/** @param site the name of the sender, for the subject */
export function mailText(message: AlertMessage, site: string): { subject: string; text: string } {
  if ('test' in message) return { subject: `[${site}] Test`, text: `This is a test of alerts from ${site}. Nothing is wrong.\n` }
  if ('digest' in message) return { subject: `[${site}] Weekly summary`, text: digestText(message.digest) }
  const { type, condition } = message.alert
  const { priority, since, timezone, path } = condition
  const [building_name, title, detail] = [oneLine(condition.building_name), oneLine(condition.title), oneLine(condition.detail)]
  const subject = type === 'raised' ? `[${site}] ${title}, ${building_name}` : `[${site}] Over: ${title}, ${building_name}`
  const lines = [
    type === 'raised' ? `${title} (priority ${PRIORITY_WORDS[priority]})` : `Over: ${title}`,
    building_name,
    '',
    detail,
    `Since ${clockText(since, timezone)}.`,
    `Page: ${path}`,
  ]
  return { subject, text: `${lines.join('\n')}\n` }
}

const two = (n: number): string => String(n).padStart(2, '0')

function clockText(at: number, timezone: string): string {
  const { year, month, day, hour, minute } = wallOf(at, timezone)
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)} (${timezone})`
}

function digestText({ at, timezone, buildings, silent_edges }: Digest): string {
  const parts = buildings.map(({ name, started, ended, open }) => {
    const head = `${oneLine(name)}: ${countOf(started, 'fault')} began, ${ended} ended, ${open.length} open`
    return [head, ...open.map(({ title, priority }) => `  ${PRIORITY_WORDS[priority]}: ${oneLine(title)}`)].join('\n')
  })
  const edges = silent_edges.length > 0 ? [`Edges without data: ${silent_edges.join(', ')}`] : []
  return `The week until ${clockText(at, timezone)}\n\n${[...parts, ...edges].join('\n\n')}\n`
}

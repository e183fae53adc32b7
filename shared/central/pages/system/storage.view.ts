/** What takes space on the disk, and what gives way when it becomes too much. */
import { type ClassUse, diskLevel, type DiskSpace, type StorageClass, usedPercent } from '#shared/core/disk-use.ts'
import type { HistoryExtent } from '#shared/core/series/history-quota.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { message, say } from '#shared/node/http/language.ts'
import { stateIcon } from '#shared/central/ui/icons.ts'
import { bytesText } from '#shared/central/ui/words.ts'
import { keptWords } from '#shared/central/pages/setup.view.ts'

export type StorageModel = { disk: DiskSpace; storage: ClassUse[]; history: HistoryExtent }

/** What each class is, and what bounds it. */
const CLASSES: Record<StorageClass, [name: string, about: string]> = {
  history: [message`History`, message`When it is full, old months are thinned to 15 minutes, then dropped`],
  database: [message`Database`, message`Model, readings of the last day, findings, settings, people`],
  uploads: [message`Uploads`, message`Packages that wait to be imported, for at most a day; the oldest give way`],
  cache: [message`Work of the rules`, message`Is made again when it is lost`],
  results: [message`Results for other programs`, message`The newest of each building stay`],
  backups: [message`Backups`, message`The newest stay, as many as the settings say`],
  updates: [message`Updates`, message`The newest stays`],
  outbox: [message`Readings for the hub`, message`When it is full, values are thinned to 15 minutes, then the oldest dropped`],
  priority_history: [message`Priority history`, message`Who overrode what; nothing of it is dropped`],
}

export function fullDiskNotice({ disk }: Pick<StorageModel, 'disk'>): Html | false {
  const used = usedPercent(disk)
  const level = diskLevel(used)
  return (
    level !== undefined &&
    html`<p class="notice" role="status">${stateIcon(level === 80 ? 'stale' : 'fault', say`The disk is ${used} % full.`)} ${bytesText(disk.free_bytes)} of ${bytesText(disk.total_bytes)} are free. Old months of history are given up before readings are.</p>`
  )
}

export const storageSection = ({ disk, storage, history }: StorageModel): Html => html`<section class="card"><h2>Storage</h2>
<p>${bytesText(disk.free_bytes)} of ${bytesText(disk.total_bytes)} are free.</p>
<dl class="values">${storage.map(({ name, bytes, max_bytes }) => {
  const [title, about] = CLASSES[name]
  const takes = max_bytes === null ? bytesText(bytes) : say`${bytesText(bytes)} of at most ${bytesText(max_bytes)}`
  const kept = name === 'history' ? keptWords(history) : ''
  return html`<div><dt>${say(title)}</dt><dd>${takes}</dd>${kept !== '' && html`<dd>${kept}</dd>`}<dd class="muted">${say(about)}</dd></div>`
})}</dl></section>`

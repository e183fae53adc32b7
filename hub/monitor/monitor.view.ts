/** The page of MQTT messages. The script of the page adds new rows; without it the page shows what there was. */
import { TOPIC_KINDS } from '#shared/core/topic/topics.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { type Here, moment, momentAge, momentSecond } from '#shared/central/ui/moment.ts'
import type { Direction, MessageFilter, MonitoredMessage, MonitorStats } from './mqtt-monitor.ts'
import { say, sayCount, words } from '#shared/node/http/language.ts'

type MonitorModel = { messages: MonitoredMessage[]; stats: MonitorStats; filter: MessageFilter; here: Here }

const DIRECTIONS = words({ received: 'from the edge', sent: 'to the edge' } as const satisfies Record<Direction, string>)

export const monitorBody = (model: MonitorModel): Html => html`<h1>MQTT messages</h1>
<p class="lead">The last messages between edges and this hub. Nothing can be sent from here.</p>
${filterForm(model.filter)}
<section class="card" data-monitor="/api/mqtt/monitor" data-after="${model.stats.messages}" data-timezone="${model.here.timezone}" data-query="${String(queryOf(model.filter))}">
<p><span data-monitor-state>${stateText(model)}</span> <span class="muted" data-monitor-count>${sayCount(model.stats.messages)} messages since the start</span>
<button type="button" data-monitor-pause hidden>Pause</button></p>
<ol class="messages" data-monitor-rows aria-label="Messages, newest first">${model.messages.toReversed().map(message => messageItem(message, model.here))}</ol>
${model.messages.length === 0 && html`<p class="muted" data-monitor-empty>No message yet.</p>`}
</section>`

const stateText = ({ stats, here }: MonitorModel): Html =>
  stats.connected
    ? html`Connected to the broker since ${moment(stats.since, here)}.`
    : html`Not connected to the broker, ${momentAge(stats.since, here)}.`

function queryOf(filter: MessageFilter): URLSearchParams {
  return new URLSearchParams(Object.entries(filter))
}

const filterForm = ({ site_id, edge_id, kind }: MessageFilter): Html => html`<form class="filter" method="get" action="/mqtt">
<label>Kind <select name="kind"><option value="">all</option>${[...TOPIC_KINDS, 'unknown' as const].map(
  one => html`<option value="${one}"${one === kind && html` selected`}>${one === 'unknown' ? say`unknown` : one}</option>`,
)}</select></label>
<label>Site <input name="site_id" value="${site_id ?? ''}" maxlength="128" autocomplete="off"></label>
<label>Edge <input name="edge_id" value="${edge_id ?? ''}" maxlength="128" autocomplete="off"></label>
<button>Show</button></form>`

/** The script of the page makes the same item of a new message. */
const messageItem = ({ at, topic, bytes, preview, is_cut, direction }: MonitoredMessage, here: Here): Html =>
  html`<li><details><summary>${momentSecond(at, here)} <code>${topic}</code> <span class="muted">${DIRECTIONS[direction]}, ${sayCount(bytes)} bytes</span></summary><pre>${preview}${is_cut && '…'}</pre></details></li>`

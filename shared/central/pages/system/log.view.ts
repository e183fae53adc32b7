/** The page of the log: its newest lines, and how much is logged. */
import { parseInstant } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { LOG_LEVELS, type LogLevel, type LogLine } from '#shared/central/inspection.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { stateIcon } from '#shared/central/ui/icons.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'

type LogModel = {
  /** Newest first. */
  lines: LogLine[]
  /** Least level of the lines that are shown. */
  least: LogLevel
  /** Level that is logged now. */
  level: LogLevel
  here: Here
  csrf: string
}

const LEVEL_WORDS: Record<LogLevel, string> = {
  debug: 'everything (debug)',
  info: 'events (info)',
  warn: 'warnings and errors (warn)',
  error: 'errors alone (error)',
}

export const logBody = (model: LogModel): Html => html`<p class="crumbs"><a href="/system">System</a></p>
<h1>Log</h1>
<p class="lead">The newest lines of this process since it started. All of them go to its standard error, too.</p>
<form class="filter" method="get" action="/log" data-submit-on-change><label>Show <select name="level">${levelOptions(model.least)}</select></label><button>Show</button></form>
<form class="filter" method="post" action="/log/level">${csrfField(model.csrf)}<label>Log from now on <select name="level">${levelOptions(model.level)}</select></label><button>Set</button></form>
<p class="muted">What is set here counts until the next start; <code>SERVICE_LOG_LEVEL</code> counts after it.</p>
${
  model.lines.length > 0
    ? html`<table class="tried"><thead><tr><th scope="col">When</th><th scope="col">Level</th><th scope="col">What</th></tr></thead>
<tbody>${model.lines.map(line => lineRow(line, model.here))}</tbody></table>`
    : html`<section class="card quiet-card"><h2>No line of this level since the start.</h2></section>`
}`

const levelOptions = (chosen: LogLevel): Html[] =>
  LOG_LEVELS.map(level => html`<option value="${level}"${level === chosen && html` selected`}>${LEVEL_WORDS[level]}</option>`)

function lineRow({ at, level, text, fields }: LogLine, here: Here): Html {
  const ms = parseInstant(at)
  const shown = Object.keys(fields).length > 0 && JSON.stringify(fields)
  return html`<tr>
<td data-label="When"><div>${ms === undefined ? at : moment(ms, here)}</div></td>
<td data-label="Level"><div>${level === 'error' ? stateIcon('fault', level) : level === 'warn' ? stateIcon('stale', level) : level}</div></td>
<td data-label="What"><div>${text}${shown && html` <code class="muted">${shown}</code>`}</div></td></tr>`
}

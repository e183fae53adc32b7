/** The log of a process on a page: its newest lines, and how much is logged. */
import { Type } from '@sinclair/typebox'
import { LOG_LEVELS, type LogAnswer, type LogLevel, type LogLine, LogRequest } from '#shared/core/connector/inspection-wire.ts'
import { parseInstant } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { oneOf } from '#shared/node/http/route.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { stateIcon } from '#shared/central/ui/icons.ts'
import { type Here, momentSecond } from '#shared/central/ui/moment.ts'
import { say, words } from '#shared/node/http/language.ts'

/** Lines that one page shows. */
const LINES_SHOWN = 200

/** Parts of the query of a page with a log. */
export const LOG_QUERY = {
  level: Type.Optional(oneOf(LOG_LEVELS)),
  before_line: LogRequest.properties.before_line,
}
type LogQuery = Pick<LogRequest, 'level' | 'before_line'>

/** @returns what the page asks of the process; without a choice the events, as most lines of debugging help nobody */
export const logRequest = ({ level = 'info', before_line }: LogQuery): LogRequest => ({
  level,
  limit: LINES_SHOWN,
  ...(before_line !== undefined && { before_line }),
})

type LogModel = {
  answer: LogAnswer
  query: LogQuery
  /** Of the page; the form that sets the level goes to `level` below it. */
  path: string
  /** Further part of its query: which edge is meant. */
  of?: Record<string, string>
  here: Here
  csrf: string
}

const LEVEL_WORDS: Record<LogLevel, string> = words({
  debug: 'everything (debug)',
  info: 'events (info)',
  warn: 'warnings and errors (warn)',
  error: 'errors alone (error)',
})

export function logPart({ answer, query, path, of = {}, here, csrf }: LogModel): Html {
  const { lines, level, next_before_line } = answer
  const { level: least = 'info', before_line } = query
  const hrefOf = (more: Record<string, string>) => `${path}?${new URLSearchParams({ ...of, level: least, ...more })}`
  const ends = [
    before_line !== undefined && html`<li><a href="${hrefOf({})}">Newest lines</a></li>`,
    next_before_line !== undefined && html`<li><a href="${hrefOf({ before_line: `${next_before_line}` })}">Older lines</a></li>`,
  ].filter(end => end !== false)
  return html`<form class="filter" method="get" action="${path}" data-submit-on-change>${Object.entries(of).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<label>Show <select name="level">${levelOptions(least)}</select></label><button>Show</button></form>
<form class="filter" method="post" action="${path}/level?${new URLSearchParams(of)}">${csrfField(csrf)}<label>Log from now on <select name="level">${levelOptions(level)}</select></label><button>Set</button></form>
<p class="muted">What is set here counts until the next start; <code>SERVICE_LOG_LEVEL</code> counts after it.</p>
${
  lines.length > 0
    ? html`<table class="tried"><thead><tr><th scope="col">When</th><th scope="col">Level</th><th scope="col">What</th></tr></thead>
<tbody>${lines.map(line => lineRow(line, here))}</tbody></table>`
    : html`<section class="card quiet-card"><h2>No ${before_line === undefined ? '' : say`older `}line of this level since the start.</h2></section>`
}
${ends.length > 0 && html`<nav aria-label="Parts of the log"><ul class="choices">${ends}</ul></nav>`}`
}

const levelOptions = (chosen: LogLevel): Html[] =>
  LOG_LEVELS.map(level => html`<option value="${level}"${level === chosen && html` selected`}>${LEVEL_WORDS[level]}</option>`)

function lineRow({ at, level, text, fields }: LogLine, here: Here): Html {
  const ms = parseInstant(at)
  const shown = Object.keys(fields).length > 0 && JSON.stringify(fields)
  return html`<tr>
<td data-label="When"><div>${ms === undefined ? at : momentSecond(ms, here)}</div></td>
<td data-label="Level"><div>${level === 'error' ? stateIcon('fault', level) : level === 'warn' ? stateIcon('stale', level) : level}</div></td>
<td data-label="What"><div>${text}${shown && html` <code class="muted">${shown}</code>`}</div></td></tr>`
}

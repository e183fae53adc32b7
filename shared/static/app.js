/* Only enhances: every page reads and works without it. */

/* What scripts write themselves, in the language of the page: the page gives it where that is not English. */
const texts = JSON.parse(document.body.dataset.texts ?? '{}')
window.say = (text, ...values) => (texts[text] ?? text).replace(/\{(\d)\}/g, (_, i) => values[i])

/** A part that refreshes itself has stopped when it is this many intervals late. */
const LATE_INTERVALS = 3

const parts = () => document.querySelectorAll('[data-refresh-secs]')
const fresh = new Map()

/* A filter takes effect as soon as it is changed. */
document.addEventListener('change', event => {
  const form = event.target.closest('form[data-submit-on-change]')
  if (form) form.requestSubmit()
})

/* A phone shows the first rows of a long list. */
const isShown = element => element.getClientRects().length > 0

/* The list of faults: all at once, and keys for one after the other. */
for (const all of document.querySelectorAll('[data-pick-all]')) {
  const picks = () => [...all.closest('table').querySelectorAll('tbody .pick')].filter(isShown)
  all.hidden = false
  all.addEventListener('change', () => {
    for (const pick of picks()) pick.checked = all.checked
  })
}
document.addEventListener('keydown', event => {
  const table = document.querySelector('[data-fault-keys]')
  const { key } = event
  const isBusy = isTypingIn(event.target) && !event.target.matches('.pick')
  if (!table || isBusy || event.ctrlKey || event.metaKey || event.altKey || !'jkxas'.includes(key)) return
  const rows = [...table.querySelectorAll('tbody tr:not(.group)')].filter(isShown)
  const at = rows.indexOf(document.activeElement?.closest('tr'))
  if (key === 'j' || key === 'k') {
    const next = rows[Math.min(Math.max(at + (key === 'j' ? 1 : -1), 0), rows.length - 1)]
    next?.querySelector('.what a').focus()
    return
  }
  const form = table.closest('form')
  const own = rows[at]?.querySelector('.pick')
  if (key === 'x' && own) own.checked = !own.checked
  if (key === 'x') return
  if (!form.querySelector('tbody .pick:checked')) {
    if (!own) return
    own.checked = true
  }
  if (key === 'a') return form.requestSubmit(form.querySelector('.bulk [value=ack]'))
  event.preventDefault()
  form.querySelector('.bulk details').open = true
  form.querySelector('.bulk [name=reason]').focus()
})
/* The page of one fault has the same keys, and n for its note. */
document.addEventListener('keydown', event => {
  const actions = document.querySelector('[data-fault-actions]')
  const { key } = event
  if (!actions || isTypingIn(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
  if (key === 'a') return document.querySelector('.fault-bar form[action$="/ack"]')?.requestSubmit()
  const field = { n: '[name=note]', s: '[name=hours]' }[key]
  if (field === undefined) return
  event.preventDefault()
  actions.querySelector(field).focus()
})
/* Enter in a field of the bar does what the next button says. */
document.addEventListener('keydown', event => {
  if (event.key !== 'Enter' || !event.target.matches?.('.bulk input')) return
  event.preventDefault()
  const button = event.target.closest('label').nextElementSibling
  button.form.requestSubmit(button)
})
/* What was just done is said once: the address stays that of the list. */
if (document.querySelector('.toast')) {
  const shown = new URL(location.href)
  for (const name of ['done', 'count', 'undo', 'scope', 'ended']) shown.searchParams.delete(name)
  history.replaceState(null, '', shown)
}

/* The search: `/` goes to it, the arrows through what is found, Escape closes that. */
const isTypingIn = element => element?.closest?.('input, textarea, select, [contenteditable]') !== null
document.addEventListener('keydown', event => {
  if (event.key === '/' && !isTypingIn(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const box = document.querySelector('[role=search] input')
    if (!box?.offsetParent) return
    event.preventDefault()
    box.focus()
    box.select()
  }
  const search = event.target.closest?.('.search')
  if (!search) return
  const links = [...search.querySelectorAll('.found a')]
  if (event.key === 'Escape') {
    search.querySelector('.found').replaceChildren()
    search.querySelector('input').focus()
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined || links.length === 0) return
  event.preventDefault()
  const next = links.indexOf(document.activeElement) + step
  if (next < 0) search.querySelector('input').focus()
  else links[Math.min(next, links.length - 1)].focus()
})
document.addEventListener('focusout', event => {
  const search = event.target.closest?.('.search')
  if (search && event.relatedTarget !== null && !search.contains(event.relatedTarget))
    search.querySelector('.found').replaceChildren()
})

/* No request while nobody looks; one at once when somebody looks again. */
document.addEventListener('htmx:before:request', event => {
  if (document.hidden) event.preventDefault()
})
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return
  for (const part of parts()) {
    fresh.set(part.id, Date.now())
    part.dispatchEvent(new Event('refresh'))
  }
})

/* Something stands in a form of the page that was not sent. */
const isTyped = () =>
  [...document.querySelectorAll('main input:not([type=hidden]), main textarea, main select')].some(field =>
    field.options
      ? [...field.options].some(option => option.selected !== option.defaultSelected && field.selectedIndex > 0)
      : field.value !== field.defaultValue || field.checked !== field.defaultChecked,
  )

/* A session that has ended shows the login page, not a login form inside a tile, unless that would drop what was typed: it is
   then asked for the password when it is sent. An error never replaces what is shown. */
document.addEventListener('htmx:before:response', event => {
  const { raw, status } = event.detail.ctx.response
  if (status === 401 || raw.redirected) endSession()
  if (status >= 400 || raw.redirected) event.preventDefault()
})
function endSession() {
  if (!isTyped()) return location.reload()
  for (const feed of document.querySelectorAll('.feed'))
    feed.textContent = say('The session has ended. What you typed stays; the password is asked for when you send it.')
}
document.addEventListener('htmx:after:swap', () => {
  for (const part of parts()) markFresh(part)
})

function markFresh(part) {
  fresh.set(part.id, Date.now())
  part.classList.remove('feed-stopped')
  const feed = part.querySelector('.feed')
  if (feed?.textContent) feed.textContent = ''
}

/* The page says itself that it is old. */
setInterval(() => {
  if (document.hidden) return
  for (const part of parts()) {
    const late = Date.now() - (fresh.get(part.id) ?? Date.now()) > Number(part.dataset.refreshSecs) * 1000 * LATE_INTERVALS
    if (!late || part.classList.contains('feed-stopped')) continue
    part.classList.add('feed-stopped')
    const feed = part.querySelector('.feed')
    if (feed) feed.textContent = say('No answer since then: this page is old.')
  }
}, 1000)
for (const part of parts()) fresh.set(part.id, Date.now())

/* The program starts again: what it shows then is opened once it has stopped answering and answers again. */
const RESTART_POLL_MS = 1000
/* Answers without a break between them: it started again faster than it was asked, or does not stop. */
const RESTART_POLLS_MAX = 20
for (const { dataset } of document.querySelectorAll('[data-restarting]')) awaitRestart(dataset.restarting)

async function awaitRestart(href) {
  let hasStopped = false
  for (let polls = 1; ; polls++) {
    await new Promise(resolve => setTimeout(resolve, RESTART_POLL_MS))
    const answers = await fetch('/api/health', { cache: 'no-store' }).then(
      ({ status }) => status !== 502 && status !== 504,
      () => false,
    )
    hasStopped ||= !answers
    if (answers && (hasStopped || polls >= RESTART_POLLS_MAX)) return location.assign(href)
  }
}

/* A second tap on a button does not send the same twice; other values are sent at once, and after a download the same again. */
const SENT_MS = 5000
const sent = new WeakMap()
document.addEventListener('submit', event => {
  const { target: form, submitter } = event
  if (form.method !== 'post' || event.defaultPrevented) return
  const values = new URLSearchParams(new FormData(form, submitter)).toString()
  const before = sent.get(form)
  if (before?.values === values && Date.now() - before.at < SENT_MS) event.preventDefault()
  else sent.set(form, { values, at: Date.now() })
})

/* MQTT messages: new rows come as server-sent events; where no stream can be had, a request every second. */
const MONITOR_ROWS = 100
const MONITOR_POLL_MS = 1000
for (const monitor of document.querySelectorAll('[data-monitor]')) watchMessages(monitor)

function watchMessages(monitor) {
  const { monitor: url, query, timezone } = monitor.dataset
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, timeStyle: 'medium' })
  const rows = monitor.querySelector('[data-monitor-rows]')
  const state = monitor.querySelector('[data-monitor-state]')
  const count = monitor.querySelector('[data-monitor-count]')
  const pause = monitor.querySelector('[data-monitor-pause]')
  let after = Number(monitor.dataset.after)
  let waiting = []
  let isPaused = false

  const cell = (name, text) => {
    const element = document.createElement(name)
    element.textContent = text
    return element
  }
  const itemOf = ({ at, topic, direction, bytes, preview, is_cut }) => {
    const side = cell(
      'span',
      direction === 'sent' ? say('to the edge, {0} bytes', bytes) : say('from the edge, {0} bytes', bytes),
    )
    side.className = 'muted'
    const summary = cell('summary', '')
    summary.append(cell('time', clock.format(new Date(at))), ' ')
    summary.append(cell('code', topic), ' ', side)
    const details = document.createElement('details')
    details.append(summary, cell('pre', preview + (is_cut ? '…' : '')))
    const item = document.createElement('li')
    item.append(details)
    return item
  }
  const add = message => {
    after = Math.max(after, message.id)
    if (isPaused) waiting = [...waiting, message].slice(-MONITOR_ROWS)
    else {
      rows.prepend(itemOf(message))
      while (rows.children.length > MONITOR_ROWS) rows.lastElementChild.remove()
      monitor.querySelector('[data-monitor-empty]')?.remove()
    }
    label()
  }
  const label = () => {
    pause.textContent = isPaused ? say('Go on ({0} waiting)', waiting.length) : say('Pause')
  }
  const showStats = ({ connected, messages, dropped }) => {
    state.textContent = connected ? say('Connected to the broker.') : say('Not connected to the broker.')
    count.textContent =
      dropped > 0
        ? say('{0} messages since the start, {1} not shown because too many came at once', messages, dropped)
        : say('{0} messages since the start', messages)
  }
  pause.hidden = false
  pause.addEventListener('click', () => {
    isPaused = !isPaused
    if (!isPaused) for (const message of waiting.splice(0)) add(message)
    label()
  })

  let missed = 0
  const poll = async () => {
    if (!document.hidden) {
      try {
        const response = await fetch(`${url}?${new URLSearchParams(query)}&after=${after}`)
        if (response.status === 401) return location.reload()
        const answer = await response.json()
        for (const message of answer.recent) add(message)
        after = Math.max(after, answer.messages)
        missed += answer.dropped
        showStats({ ...answer, dropped: missed })
      } catch {
        state.textContent = say('No answer from the hub.')
      }
    }
    setTimeout(poll, MONITOR_POLL_MS)
  }
  const stream = new EventSource(`${url}/stream?${query}`)
  stream.addEventListener('message', event => add(JSON.parse(event.data)))
  for (const name of ['stats', 'connection']) stream.addEventListener(name, event => showStats(JSON.parse(event.data)))
  stream.addEventListener('error', () => {
    // A stream that was only cut off connects again by itself.
    if (stream.readyState === EventSource.CLOSED) poll()
  })
}

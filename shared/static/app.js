/* Only enhances: every page reads and works without it. */

/** A part that refreshes itself has stopped when it is this many intervals late. */
const LATE_INTERVALS = 3

const parts = () => document.querySelectorAll('[data-refresh-secs]')
const fresh = new Map()

/* A filter takes effect as soon as it is changed. */
document.addEventListener('change', event => {
  const form = event.target.closest('form[data-submit-on-change]')
  if (form) form.requestSubmit()
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
    feed.textContent = 'The session has ended. What you typed stays; the password is asked for when you send it.'
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
    if (feed) feed.textContent = 'No answer since then: this page is old.'
  }
}, 1000)
for (const part of parts()) fresh.set(part.id, Date.now())

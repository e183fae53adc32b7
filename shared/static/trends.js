/* The plot of trends and of a fault: the drawing of the server is replaced by one that zooms. On trends the address is the state. */
import { savePng } from './trend-image.js'
import { markEnds, paintTimes, style } from './trend-marks.js'
import { trendOptions } from './trend-options.js'
import { trendWords } from './trend-words.js'
import { zoomByHand } from './trend-zoom.js'

/** The least and greatest time that may be seen, ms. */
const REACH = { least: 120_000, greatest: 5 * 366 * 86_400_000 }

const host = document.getElementById('trends')
if (host && window.uPlot) openTrends(host)

function openTrends(root) {
  const { url, building, points, timezone, path } = root.dataset
  const series = JSON.parse(root.dataset.series)
  const own = series.filter(one => !one.earlier)
  const start = { from: Number(root.dataset.from), to: Number(root.dataset.to) }
  const shift = Number(root.dataset.shift)
  const worst = Number(root.dataset.worst) / 1000
  /* The page of a fault shades that fault alone; elsewhere the answer has the faults of the equipment. */
  const ownFaults =
    root.dataset.faults && JSON.parse(root.dataset.faults).map(({ from, to, own }) => ({ from: from / 1000, to: to / 1000, own }))
  const heightMin = root.clientWidth < 500 ? 170 : 200
  const words = trendWords(timezone)
  let span = start
  let plot
  let marks = { faults: [], overrides: [], noData: [] }
  let turn = 0

  /* Each point is three columns: what is drawn, and the least and greatest of its buckets for the band behind it. */
  const tablesOf = (answer, later) =>
    answer.series.map((one, i) => {
      const { scale, offset } = own[i].kind === 'number' ? own[i] : { scale: 1, offset: 0 }
      const drawn = own[i].kind === 'number' ? 'mean' : 'last'
      const column = name => one.points.map(({ [name]: value }) => (value === null ? null : value * scale + offset))
      return [one.points.map(point => (Date.parse(point.t) + later) / 1000), column(drawn), column('min'), column('max')]
    })

  const inSeconds = list =>
    list.map(({ from, to }) => ({ from: Date.parse(from) / 1000, to: to === null ? Date.now() / 1000 : Date.parse(to) / 1000 }))
  const marksOf = answer => ({
    faults: ownFaults ?? inSeconds(answer.faults),
    overrides: inSeconds(answer.overrides),
    noData: inSeconds(answer.no_data),
  })

  /* The plot and its legend take the room of the drawing, so that nothing below moves; what is too high for the window stays empty. */
  function replaceDrawing(data) {
    const room = root.clientHeight
    const width = root.clientWidth
    root.style.minHeight = `${room}px`
    /* The drawing for a desk stays for paper. */
    root.replaceChildren(...root.querySelectorAll(':scope > .for-wide'))
    root.classList.add('zooms')
    const options = trendOptions({
      width,
      height: heightMin,
      series,
      words,
      paint: u => paintTimes(u, { ...marks, worst }, words),
      drawEnds: u => markEnds(u, series),
      select: show,
    })
    plot = new uPlot(options, data, root)
    const legend = root.querySelector('.u-legend')
    /* The plot gets its width later; until then the legend would be measured in one column. */
    legend.style.width = `${width}px`
    const left = room - legend.offsetHeight
    legend.style.width = ''
    plot.setSize({ width, height: Math.max(heightMin, Math.min(left, Math.max(460, window.innerHeight - 160))) })
  }

  function listen(u) {
    zoomByHand(u, REACH, show)
    u.over.addEventListener('dblclick', () => show(start))
    new ResizeObserver(() => {
      if (root.clientWidth > 0 && root.clientWidth !== u.width) u.setSize({ width: root.clientWidth, height: u.height })
    }).observe(root)
  }

  const timeOf = earlier => ({
    from: new Date(span.from - earlier).toISOString(),
    to: new Date(span.to - earlier).toISOString(),
  })
  function load(earlier) {
    const query = new URLSearchParams({
      building_id: building,
      point_ids: points,
      ...timeOf(earlier),
      max_points: String(Math.max(200, root.clientWidth)),
    })
    return fetch(`${url}?${query}`).catch(() => undefined)
  }

  /** Loads a span and draws it; an answer that a later one has overtaken is dropped. */
  async function show(next, isFirst = false) {
    const length = Math.min(Math.max(next.to - next.from, REACH.least), REACH.greatest)
    const middle = (next.from + next.to) / 2
    span = { from: Math.round(middle - length / 2), to: Math.round(middle + length / 2) }
    const mine = ++turn
    const time = timeOf(0)
    const responses = await Promise.all((shift > 0 ? [0, shift] : [0]).map(load))
    if (mine !== turn) return
    if (responses.some(response => response?.status === 401)) return location.reload()
    if (!responses.every(response => response?.ok)) return fail()
    const [answer, before] = await Promise.all(responses.map(response => response.json()))
    if (mine !== turn) return
    marks = marksOf(answer)
    const tables = [...tablesOf(answer, 0), ...(before ? tablesOf(before, shift) : [])]
    /* A gap reaches over the instants at which only other lines have values (2 in uPlot): no line crosses it. */
    const data = uPlot.join(
      tables,
      tables.map(table => table.map(() => 2)),
    )
    if (!plot) {
      replaceDrawing(data)
      listen(plot)
    } else plot.setData(data, false)
    plot.setScale('x', { min: span.from / 1000, max: span.to / 1000 })
    root.dataset.shown = `${span.from},${span.to}`
    offerPng()
    if (!isFirst) refreshWords(time, mine)
  }

  /** Address, time fields, summary, table and CSV of the new span come from the server's own page of it; other pages link there. */
  async function refreshWords(time, mine) {
    for (const link of document.querySelectorAll('a[data-follows]')) {
      const address = new URL(link.href)
      for (const [name, instant] of Object.entries(time)) address.searchParams.set(name, instant)
      link.href = address.pathname + address.search
    }
    if (path === undefined) return
    const href = `${path}&${new URLSearchParams(time)}`
    history.replaceState(null, '', href)
    const response = await fetch(href).catch(() => undefined)
    if (!response?.ok || mine !== turn) return
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    for (const id of ['trend-words', 'trend-time', 'saved']) {
      const part = page.getElementById(id)
      if (part && mine === turn) document.getElementById(id).replaceWith(part)
    }
    const drawing = page.querySelector('#trends > .for-wide')
    if (drawing) root.querySelector(':scope > .for-wide')?.replaceWith(drawing)
    offerPng()
  }

  function offerPng() {
    for (const button of document.querySelectorAll('[data-png]')) button.hidden = false
  }
  document.addEventListener('click', event => {
    if (event.target.closest?.('[data-png]')) savePicture()
  })

  function savePicture() {
    savePng(plot.ctx.canvas, {
      labels: series.map((one, i) => [one.label, style(`--t${(i % own.length) + 1}`)]),
      time: say('{0} to {1}, {2}', words.date(span.from / 1000), words.date(span.to / 1000), timezone),
      name: `trend-${new Date(span.from).toISOString().slice(0, 10)}.png`,
    })
  }

  function fail() {
    if (root.querySelector('.error')) return
    const notice = document.createElement('p')
    notice.className = 'error'
    notice.setAttribute('role', 'alert')
    notice.textContent = say('This time could not be loaded. Try again, or load the page anew.')
    root.append(notice)
  }

  for (const look of ['(prefers-color-scheme: dark)', '(prefers-contrast: more)', '(forced-colors: active)'])
    matchMedia(look).addEventListener('change', () => plot?.redraw(false))
  show(start, true)
}

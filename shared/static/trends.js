/* The plot of trends and of a fault: the drawing of the server is replaced by one that zooms. On trends the address is the state. */

const host = document.getElementById('trends')
if (host && window.uPlot) openTrends(host)

function openTrends(root) {
  const { url, building, points, timezone, path } = root.dataset
  const series = JSON.parse(root.dataset.series)
  const start = { from: Number(root.dataset.from), to: Number(root.dataset.to) }
  const SPAN_MIN = 120_000
  const SPAN_MAX = 5 * 366 * 86_400_000
  const SETTLE_MS = 250
  const HEIGHT_MIN = root.clientWidth < 500 ? 170 : 200
  const DASHES = [[], [8, 4], [2, 4], [10, 4, 2, 4], [14, 5], [5, 3]]
  const LANE = 8
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
  let span = start
  let plot
  let extra = { faults: [], no_data: [], overrides: [] }
  let turn = 0

  const shift = Number(root.dataset.shift)
  const own = series.filter(one => !one.earlier)
  const units = [...new Set(series.map(one => one.unit))]
  /* Each unit that is measured has an axis; on and off and states are told by the crosshair, and have one where nothing else has. */
  const measured = [...new Set(series.filter(one => one.kind === 'number').map(one => one.unit))]
  const AXES_NARROW = 3
  const names = { 'on/off': say('on/off'), state: say('state'), '': say('value') }
  const shown = ({ scale, offset }, value) => (value === null ? null : value * scale + offset)
  const { lang } = document.documentElement
  const numbers = decimals => new Intl.NumberFormat(lang, { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
  const onAxis = new Intl.NumberFormat(lang)
  const text = (one, value) => {
    if (value === null || value === undefined) return '–'
    if (one.kind === 'bool') return value >= 0.5 ? say('on') : say('off')
    if (one.kind !== 'number') return one.states?.[value] ?? String(value)
    return `${numbers(one.decimals).format(value)} ${one.unit}`.trim()
  }

  /* The building's clock, as the rest of the page writes it. */
  const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'].map(month => say(month))
  const wall = seconds => uPlot.tzDate(new Date(seconds * 1000), timezone)
  const two = n => String(n).padStart(2, '0')
  const clock = at => `${two(at.getHours())}:${two(at.getMinutes())}`
  const day = at => `${at.getDate()} ${MONTHS[at.getMonth()]}`
  const isMidnight = at => at.getHours() === 0 && at.getMinutes() === 0
  const ticks = (_, splits) => splits.map(wall).map(at => (isMidnight(at) ? day(at) : clock(at)))

  /* Each point is three columns: what is drawn, and the least and greatest of its buckets for the band behind it. */
  const tablesOf = (answer, later) =>
    answer.series.map((one, i) => {
      const measure = own[i].kind === 'number' ? own[i] : { scale: 1, offset: 0 }
      const drawn = own[i].kind === 'number' ? 'mean' : 'last'
      const column = name => one.points.map(point => shown(measure, point[name]))
      return [one.points.map(point => (Date.parse(point.t) + later) / 1000), column(drawn), column('min'), column('max')]
    })

  const inSeconds = list =>
    list.map(({ from, to }) => ({ from: Date.parse(from) / 1000, to: to === null ? Date.now() / 1000 : Date.parse(to) / 1000 }))
  /* The page of a fault shades that fault alone; elsewhere the answer has the faults of the equipment. */
  const ownFaults =
    root.dataset.faults && JSON.parse(root.dataset.faults).map(({ from, to, own }) => ({ from: from / 1000, to: to / 1000, own }))
  const worst = Number(root.dataset.worst)

  function paint(u) {
    const { ctx, bbox } = u
    const { left, top, width, height } = bbox
    const unit = window.devicePixelRatio || 1
    const x = seconds => Math.min(Math.max(u.valToPos(seconds, 'x', true), left), left + width)
    ctx.save()
    /* Only those in view: what is clamped to the edge would still have the least width of a bar. */
    const { min, max } = u.scales.x
    const inView = list => list.filter(({ from, to }) => from < max && to > min)
    const faults = inView(ownFaults ?? inSeconds(extra.faults))
    for (const { from, to, own } of faults) {
      ctx.fillStyle = style(own ? '--shade' : '--shade-other')
      ctx.fillRect(x(from), top, x(to) - x(from), height)
    }
    ctx.fillStyle = style('--p1')
    for (const { from, to } of faults)
      ctx.fillRect(x(from), top + height - LANE * unit, Math.max(2, x(to) - x(from)), LANE * unit - 2)
    ctx.fillStyle = style('--override')
    for (const { from, to } of inView(inSeconds(extra.overrides)))
      ctx.fillRect(x(from), top + height - 2 * LANE * unit, Math.max(2, x(to) - x(from)), LANE * unit - 2)
    ctx.strokeStyle = style('--edge')
    ctx.lineWidth = unit
    for (const { from, to } of inSeconds(extra.no_data)) {
      ctx.save()
      ctx.beginPath()
      ctx.rect(x(from), top, x(to) - x(from), height)
      ctx.clip()
      ctx.beginPath()
      for (let at = x(from) - height; at < x(to); at += 8 * unit) {
        ctx.moveTo(at, top + height)
        ctx.lineTo(at + height, top)
      }
      ctx.stroke()
      ctx.restore()
    }
    if (worst >= span.from && worst < span.to) {
      const at = x(worst / 1000)
      ctx.strokeStyle = style('--text')
      ctx.setLineDash([2 * unit, 3 * unit])
      ctx.strokeRect(at, top, 0, height)
      ctx.fillStyle = style('--text')
      ctx.font = `${12 * unit}px sans-serif`
      ctx.textAlign = at > left + width / 2 ? 'right' : 'left'
      ctx.textBaseline = 'top'
      ctx.fillText(` ${say('worst {0}', clock(wall(worst / 1000)))} `, at, top + 2 * unit)
    }
    ctx.restore()
  }

  function optionsOf() {
    const isNarrow = root.clientWidth < 500
    const axis = {
      stroke: () => style('--text'),
      grid: { stroke: () => style('--line'), width: 1 },
      ticks: { stroke: () => style('--line'), width: 1 },
    }
    /* On a phone three of these leave as much for the lines as two of the wide ones would. */
    const narrow = { size: 38, gap: 2, labelSize: 14, labelGap: 0, ticks: { ...axis.ticks, size: 4 } }
    /* An axis of one line has its colour. */
    const colourOf = unit => {
      const lines = own.flatMap((one, i) => (one.unit === unit ? [i] : []))
      return () => style(lines.length === 1 ? `--t${lines[0] + 1}` : '--text')
    }
    const scales = { x: { time: true } }
    for (const unit of units) scales[unit || 'value'] = unit === 'on/off' ? { range: [-0.1, 1.4] } : {}
    const withAxis = measured.length > 0 ? measured.slice(0, isNarrow ? AXES_NARROW : measured.length) : units.slice(0, 1)
    const axes = withAxis.map((unit, i) => ({
      ...axis,
      scale: unit || 'value',
      /* Left and right in turn. */
      side: i % 2 === 0 ? 3 : 1,
      stroke: colourOf(unit),
      size: 60,
      ...(isNarrow && narrow),
      values: (_, splits) => splits.map(value => onAxis.format(value)),
      label: names[unit] ?? unit,
      grid: i === 0 ? axis.grid : { show: false },
    }))
    const lines = series.flatMap((one, i) => {
      const colour = () => `${style(`--t${(i % own.length) + 1}`)}${one.earlier ? '99' : ''}`
      const scale = one.unit || 'value'
      const stepped = one.kind === 'number' ? {} : { paths: uPlot.paths.stepped({ align: 1 }) }
      const hidden = { scale, show: true, width: 0, points: { show: false }, legend: { show: false }, value: () => '' }
      return [
        {
          label: one.label,
          scale,
          stroke: colour,
          width: one.earlier ? 1.5 : 2,
          dash: one.earlier ? [2, 3] : DASHES[i],
          points: { show: false },
          value: (_, value) => text(one, value),
          ...stepped,
        },
        { ...hidden, label: say('{0} least', one.label), class: 'trend-band' },
        { ...hidden, label: say('{0} greatest', one.label), class: 'trend-band' },
      ]
    })
    const bands = series.flatMap((one, i) =>
      one.kind === 'number' && !one.earlier ? [{ series: [3 * i + 3, 3 * i + 2], fill: () => `${style(`--t${i + 1}`)}40` }] : [],
    )
    return {
      width: root.clientWidth,
      height: HEIGHT_MIN,
      tzDate: wall,
      scales,
      axes: [{ ...axis, values: ticks }, ...axes],
      series: [{ label: say('Time'), value: (_, at) => (at === null ? '–' : `${day(wall(at))} ${clock(wall(at))}`) }, ...lines],
      bands,
      legend: { live: true, markers: { stroke: (_, i) => `var(--t${(Math.floor((i - 1) / 3) % own.length) + 1})` } },
      cursor: { drag: { x: true, y: false, setScale: false } },
      hooks: {
        drawClear: [paint],
        draw: [u => markEnds(u, series, style)],
        setSelect: [
          u => {
            const { left, width } = u.select
            if (width < 5) return
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
            show({ from: u.posToVal(left, 'x') * 1000, to: u.posToVal(left + width, 'x') * 1000 })
          },
        ],
      },
    }
  }

  /* The plot and its legend take the room of the drawing, so that nothing below moves; what is too high for the window stays empty. */
  function replaceDrawing(data) {
    const room = root.clientHeight
    root.style.minHeight = `${room}px`
    /* The drawing for a desk stays for paper. */
    root.replaceChildren(...root.querySelectorAll(':scope > .for-wide'))
    root.classList.add('zooms')
    plot = new uPlot(optionsOf(), data, root)
    const legend = root.querySelector('.u-legend')
    /* The plot gets its width later; until then the legend would be measured in one column. */
    legend.style.width = `${root.clientWidth}px`
    const left = room - legend.offsetHeight
    legend.style.width = ''
    const height = Math.max(HEIGHT_MIN, Math.min(left, Math.max(460, window.innerHeight - 160)))
    plot.setSize({ width: root.clientWidth, height })
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
    const length = Math.min(Math.max(next.to - next.from, SPAN_MIN), SPAN_MAX)
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
    extra = answer
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
    if (event.target.closest?.('[data-png]')) savePng()
  })

  /* The plot as it is seen, between the names of its lines and the time that it shows, on as many lines as these need. */
  function savePng() {
    const unit = window.devicePixelRatio || 1
    const { canvas } = plot.ctx
    const image = document.createElement('canvas')
    const ctx = image.getContext('2d')
    const edge = 8 * unit
    const line = 22 * unit
    const font = `${13 * unit}px sans-serif`
    const rowsOf = (parts, gap) => {
      ctx.font = font
      let [x, row] = [edge, 0]
      const placed = parts.map(([text, colour]) => {
        const { width } = ctx.measureText(text)
        if (x > edge && x + width > canvas.width - edge) [x, row] = [edge, row + 1]
        const part = { text, colour, x, row }
        x += width + gap
        return part
      })
      return { placed, height: (row + 1) * line + edge }
    }
    const instant = ms => `${day(wall(ms / 1000))} ${wall(ms / 1000).getFullYear()} ${clock(wall(ms / 1000))}`
    const time = say('{0} to {1}, {2}', instant(span.from), instant(span.to), timezone)
    const head = rowsOf(
      series.map((one, i) => [one.label, style(`--t${(i % own.length) + 1}`)]),
      2 * edge,
    )
    const foot = rowsOf(
      time.split(' ').map(word => [word, style('--text')]),
      4 * unit,
    )
    image.width = canvas.width
    image.height = head.height + canvas.height + foot.height
    ctx.fillStyle = style('--card')
    ctx.fillRect(0, 0, image.width, image.height)
    ctx.drawImage(canvas, 0, head.height)
    ctx.font = font
    const write = (top, { placed }) => {
      for (const { text, colour, x, row } of placed) {
        ctx.fillStyle = colour
        ctx.fillText(text, x, top + row * line + 18 * unit)
      }
    }
    write(0, head)
    write(head.height + canvas.height, foot)
    image.toBlob(blob => {
      const link = document.createElement('a')
      link.href = URL.createObjectURL(blob)
      link.download = `trend-${new Date(span.from).toISOString().slice(0, 10)}.png`
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
    })
  }

  function fail() {
    if (root.querySelector('.error')) return
    const words = document.createElement('p')
    words.className = 'error'
    words.setAttribute('role', 'alert')
    words.textContent = say('This time could not be loaded. Try again, or load the page anew.')
    root.append(words)
  }

  /* The wheel and two fingers stretch what is seen at once; the finer data follows when they rest. */
  function listen(u) {
    let settle
    const stretch = (factor, at) => {
      const { min, max } = u.scales.x
      const next = { min: at - (at - min) * factor, max: at + (max - at) * factor }
      if ((next.max - next.min) * 1000 < SPAN_MIN || (next.max - next.min) * 1000 > SPAN_MAX) return
      u.setScale('x', next)
      clearTimeout(settle)
      settle = setTimeout(() => show({ from: next.min * 1000, to: next.max * 1000 }), SETTLE_MS)
    }
    const secondsAt = clientX => u.posToVal(clientX - u.over.getBoundingClientRect().left, 'x')
    u.over.addEventListener(
      'wheel',
      event => {
        if (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaY) < Math.abs(event.deltaX)) return
        event.preventDefault()
        stretch(event.deltaY < 0 ? 0.8 : 1.25, secondsAt(event.clientX))
      },
      { passive: false },
    )
    let apart
    const fingers = ({ touches: [a, b] }) => ({ width: Math.abs(a.clientX - b.clientX), middle: (a.clientX + b.clientX) / 2 })
    u.over.addEventListener(
      'touchstart',
      event => {
        apart = event.touches.length === 2 ? fingers(event) : undefined
      },
      { passive: true },
    )
    u.over.addEventListener(
      'touchmove',
      event => {
        if (!apart || event.touches.length !== 2) return
        event.preventDefault()
        const now = fingers(event)
        if (now.width < 20) return
        stretch(apart.width / now.width, secondsAt(now.middle))
        apart = now
      },
      { passive: false },
    )
    u.over.addEventListener('dblclick', () => show(start))
    new ResizeObserver(() => {
      if (root.clientWidth > 0 && root.clientWidth !== u.width) u.setSize({ width: root.clientWidth, height: u.height })
    }).observe(root)
  }

  for (const look of ['(prefers-color-scheme: dark)', '(prefers-contrast: more)', '(forced-colors: active)'])
    matchMedia(look).addEventListener('change', () => plot?.redraw(false))
  show(start, true)
}

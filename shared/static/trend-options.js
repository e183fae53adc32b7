/* What the plot is made of: axes by unit, lines with their bands, and what happens when somebody drags over a time. */
import { style } from './trend-marks.js'

const NARROW = 500
const AXES_NARROW = 3
const DASHES = [[], [8, 4], [2, 4], [10, 4, 2, 4], [14, 5], [5, 3]]

/**
 * @param series the lines; those with `earlier` repeat one before them as it was at another time
 * @param words of trendWords
 * @param paint draws behind the lines; `drawEnds` before them
 * @param select called with the time between two instants that somebody drags over, ms
 */
export function trendOptions({ width, height, series, words, paint, drawEnds, select }) {
  const isNarrow = width < NARROW
  const own = series.filter(one => !one.earlier)
  const units = [...new Set(series.map(one => one.unit))]
  /* Each unit that is measured has an axis; on and off and states are told by the crosshair, and have one where nothing else has. */
  const measured = [...new Set(series.filter(one => one.kind === 'number').map(one => one.unit))]
  const names = { 'on/off': say('on/off'), state: say('state'), '': say('value') }
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
    values: (_, splits) => (unit === 'on/off' ? words.switches(splits) : words.numbers(splits)),
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
        value: (_, value) => words.value(one, value),
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
    width,
    height,
    tzDate: words.wall,
    scales,
    axes: [{ ...axis, values: (_, splits) => words.ticks(splits) }, ...axes],
    series: [{ label: say('Time'), value: (_, at) => (at === null ? '–' : words.moment(at)) }, ...lines],
    bands,
    legend: { live: true, markers: { stroke: (_, i) => `var(--t${(Math.floor((i - 1) / 3) % own.length) + 1})` } },
    cursor: { drag: { x: true, y: false, setScale: false } },
    hooks: {
      drawClear: [paint],
      draw: [drawEnds],
      setSelect: [
        u => {
          const { left, width } = u.select
          if (width < 5) return
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          select({ from: u.posToVal(left, 'x') * 1000, to: u.posToVal(left + width, 'x') * 1000 })
        },
      ],
    },
  }
}

import test from 'ava'
import fc from 'fast-check'
import { toBuckets } from '#shared/core/series/buckets.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { NARROW, type Plot, plotSvg, type TimedEpisode, WIDE } from '#shared/central/ui/plot.ts'
import { scaled, toCanonical, type Trace } from '#shared/central/ui/plot-trace.ts'
import { timeTicks, valueTicks } from '#shared/central/ui/plot-scale.ts'
import { clipSpans, endedAt, intersectSpans, gapsOf, mergeSpans, totalLength, usualInterval } from '#shared/core/series/spans.ts'
import { plotSummary, plotTable } from '#shared/central/ui/plot-words.ts'
import { dateOf } from '#shared/core/time-zone.ts'

const FROM = Date.UTC(2026, 10, 20, 12)
const ZONE = 'America/Chicago'

/** One sample a minute over `hours`, without the minutes that `missing` names. */
function trace(role: string, hours: number, missing: (minute: number) => boolean = () => false): Trace {
  const minutes = Array.from({ length: hours * 60 }, (_, i) => i).filter(i => !missing(i))
  const ts = Float64Array.from(minutes, i => FROM + i * MINUTE)
  const series = { ts, values: ts.map((_, i) => 20 + (i % 7)) }
  return { role, buckets: toBuckets(series, FROM, FROM + hours * HOUR, 480), nominalMs: MINUTE }
}
/** An episode whose condition was true all the time. */
const timed = (from: number, to: number): TimedEpisode => ({ from, to, stretches: [[from, to, to - from]] })
const plot = (traces: Trace[], rest: Partial<Plot> = {}): Plot => ({
  from: FROM,
  to: FROM + 8 * HOUR,
  now: FROM + 8 * HOUR,
  until: FROM + 8 * HOUR,
  timezone: ZONE,
  system: 'si',
  traces,
  episode: timed(FROM + HOUR, FROM + 3 * HOUR),
  others: [],
  worst_at: FROM + 2 * HOUR,
  ...rest,
})
/** Sub-paths of the lines in an SVG: each `M` starts one. */
const strokes = (svg: string) => [...svg.matchAll(/class="trace t\d" d="([^"]+)"/g)].map(([, d]) => d!)

test('a line stops at a gap and starts anew behind it', t => {
  const whole = strokes(plotSvg(plot([trace('sa_t', 8)]), WIDE, 'p', 'plot').text)
  const broken = strokes(plotSvg(plot([trace('sa_t', 8, i => i > 100 && i < 160)]), WIDE, 'p', 'plot').text)
  t.is(whole.length, 1)
  t.is(broken.length, 2)
})

test('no stroke is ever longer than a sample may hold, whatever is missing', t => {
  // 75: the least room for names.
  const longest = ((4 * MINUTE) / (8 * HOUR)) * (WIDE.width - WIDE.left - 75)
  const property = fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 479 }), { minLength: 1, maxLength: 300 }), present => {
    const kept = new Set(present)
    const svg = plotSvg(plot([trace('sa_t', 8, i => !kept.has(i))]), WIDE, 'p', 'plot').text
    return strokes(svg).every(d => {
      const xs = [...d.matchAll(/[ML]([\d.]+) /g)].map(([, x]) => Number(x))
      return xs.slice(1).every((x, i) => x - xs[i]! <= longest + 0.2)
    })
  })
  t.notThrows(() => fc.assert(property, { numRuns: 60 }))
})

/** Texts of each `text` element of a kind, a line break between its lines. */
const named = (svg: string, kind: string) =>
  [...svg.matchAll(new RegExp(`<text class="${kind}" x="([\\d.]+)"[^>]*>(.*?)</text>`, 'g'))].map(([, x, inner]) => ({
    x: Number(x),
    lines: inner!.split(/<tspan x=/).map(line => line.replace(/^"[^>]*>/, '').replace(/<[^>]+>/g, '')),
  }))

test('a line is named in words with the code of its role behind them, inside the picture', t => {
  const svg = plotSvg(plot(['sa_t', 'zone_t_sp_cool', 'hr_leave_t'].map(role => trace(role, 8))), WIDE, 'p', 'plot').text
  const names = named(svg, 'end t\\d')
  t.deepEqual(names.map(({ lines }) => lines.join('|')).toSorted(), [
    'heat wheel discharge air|temperature hr_leave_t',
    'supply air temperature sa_t',
    'zone air cooling temperature|setpoint zone_t_sp_cool',
  ])
  for (const { x, lines } of names) for (const line of lines) t.true(x + line.length * 7.5 <= WIDE.width, `begins at ${x}`)
  t.true(svg.includes('<tspan class="code">sa_t</tspan>'))
})

test('on a narrow plot a line has its code at its end, and the whole name in the key below', t => {
  const named4 = {
    ...trace('', 8),
    point: { unit: 'degC', kind: 'number' as const, name: { words: 'A very long name of a point' } },
  }
  const svg = plotSvg(plot([trace('sa_t', 8), named4]), NARROW, 'p', 'plot').text
  t.deepEqual(
    named(svg, 'end t\\d')
      .map(({ lines }) => lines.join('|'))
      .toSorted(),
    ['A very long n…', 'sa_t'],
  )
  t.deepEqual(
    named(svg, 'key').map(({ lines }) => lines.join('|')),
    ['supply air temperature sa_t', 'A very long name of a point'],
  )
  const [, height] = /viewBox="0 0 356 ([\d.]+)"/.exec(svg)!.map(Number)
  for (const [, y] of svg.matchAll(/<text class="key" x="[\d.]+" y="([\d.]+)"/g)) t.true(Number(y) < height!, `${y} of ${height}`)
})

test('a line without newer values ends with a bar and says since when, on a narrow plot in the key', t => {
  const ended = { ...trace('sa_t', 8, i => i > 400), ended_at: FROM + 400 * MINUTE }
  const switched = { ...trace('fan_status', 8, i => i > 400), ended_at: FROM + 400 * MINUTE }
  const wide = plotSvg(plot([ended, trace('ra_t', 8), switched]), WIDE, 'p', 'plot').text
  const marks = [...wide.matchAll(/<path class="ended t(\d)" d="M([\d.]+) /g)].map(([, style, x]) => [style, Number(x)])
  t.deepEqual(marks.map(([style]) => style).toSorted(), ['1', '3'])
  const [, line] = /class="trace t1" d="([^"]+)"/.exec(wide)!
  t.is(marks.find(([style]) => style === '1')![1], Number(line!.split('L').at(-1)!.split(' ')[0]))
  const names = named(wide, 'end t\\d').map(({ lines }) => lines.join('|'))
  t.deepEqual(
    names.filter(name => name.includes('no value since')).toSorted(),
    ['fan status fan_status|no value since 12:40', 'supply air temperature sa_t|no value since 12:40'].toSorted(),
  )
  const narrow = plotSvg(plot([ended]), NARROW, 'p', 'plot').text
  t.deepEqual(
    named(narrow, 'end t\\d').map(({ lines }) => lines),
    [['sa_t', 'ended']],
  )
  t.deepEqual(
    named(narrow, 'key').map(({ lines }) => lines),
    [['supply air temperature sa_t', 'no value since 12:40']],
  )
  t.regex(plotSummary(plot([ended])), /supply air temperature: no value since 12:40\./)
  const before = plotSvg(plot([{ ...ended, ended_at: FROM + 9 * HOUR }]), WIDE, 'p', 'plot').text
  t.notRegex(before, /class="ended|no value since/, 'it ended after the time shown')
})

test('a trace has ended once a sample would no longer hold', t => {
  t.is(endedAt(FROM, MINUTE, FROM + 3 * MINUTE), undefined)
  t.is(endedAt(FROM, MINUTE, FROM + 3 * MINUTE + 1), FROM)
  t.is(endedAt(null, MINUTE, FROM), undefined)
})

test('names beside a panel do not cover one another, however many lines they have', t => {
  const roles = ['zone_t_sp_cool', 'zone_t_sp_heat', 'hr_leave_t', 'clg_coil_leave_t', 'htg_coil_leave_t', 'sa_t_sp']
  const svg = plotSvg(plot(roles.map(role => trace(role, 8))), WIDE, 'p', 'plot').text
  const boxes = [...svg.matchAll(/<text class="end t\d" x="[\d.]+" y="([\d.]+)">(.*?)<\/text>/g)].map(([, y, inner]) => ({
    top: Number(y),
    bottom: Number(y) + 14 * inner!.split('<tspan x=').length,
  }))
  t.is(boxes.length, 6)
  const sorted = boxes.toSorted((a, b) => a.top - b.top)
  for (const [i, one] of sorted.slice(1).entries()) t.true(one.top >= sorted[i]!.bottom, `${one.top} from ${sorted[i]!.bottom}`)
})

test('the lowest tick is the floor of its panel, the highest its ceiling, and values lie between them in proportion', t => {
  const ts = Float64Array.from({ length: 480 }, (_, i) => FROM + i * MINUTE)
  const series = { ts, values: ts.map((_, i) => (i < 160 ? 0 : i < 320 ? 25 : 100)) }
  const traced = { role: 'clg_valve', buckets: toBuckets(series, FROM, FROM + 8 * HOUR, 480), nominalMs: MINUTE }
  const percent = { ...traced, buckets: scaled(traced.buckets, { scale: 0.01, offset: 0 }) }
  const svg = plotSvg(plot([percent]), WIDE, 'p', 'plot').text
  const [, top, height] = /<rect class="field" x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"/.exec(svg)!.map(Number)
  const ticks = [...svg.matchAll(/<path class="grid" d="M[\d.]+ ([\d.]+)H[^>]*>(?:<\/path>)?<text class="tick"[^>]*>([^<]*)</g)]
  t.deepEqual(
    ticks.map(([, y, text]) => [text, Number(y)]),
    [
      ['0', top! + height!],
      ['50', top! + height! / 2],
      ['100', top!],
    ],
  )
  const ys = new Set(
    strokes(svg)[0]!
      .split(/[ML]/)
      .filter(Boolean)
      .map(xy => Number(xy.split(' ')[1])),
  )
  t.deepEqual([...ys], [top! + height!, top! + (3 * height!) / 4, top!])
})

test('a lonely sample is still a dot', t =>
  t.regex(strokes(plotSvg(plot([trace('sa_t', 8, i => i !== 50)]), WIDE, 'p', 'x').text)[0]!, /h\.01$/))

test('units of one family share a panel, switches are bars, and six traces are the most', t => {
  const roles = ['sa_t', 'sa_t_sp', 'clg_valve', 'fan_status', 'ma_t', 'oa_t', 'ra_t']
  const svg = plotSvg(plot(roles.map(role => trace(role, 8))), NARROW, 'p', 'plot').text
  t.deepEqual(
    [...svg.matchAll(/class="family"[^>]*>([^<]+)</g)].map(([, family]) => family),
    ['°C', '%', 'on/off'],
  )
  t.is([...svg.matchAll(/class="end t\d"/g)].length, 6)
  t.regex(svg, /class="switch t4"/)
})

test('a switch that stays on is one bar', t => {
  const always = { ...trace('fan_status', 8), nominalMs: MINUTE }
  t.is([...plotSvg(plot([always]), WIDE, 'p', 'x').text.matchAll(/class="switch t1"/g)].length, 1)
})

test('the axis names the zone and the plot has an accessible name', t => {
  const svg = plotSvg(plot([trace('sa_t', 8)]), WIDE, 'p', 'Plot of the inputs').text
  t.regex(svg, /America\/Chicago \(CST, UTC−6\)/)
  t.regex(svg, /role="img" aria-label="Plot of the inputs"/)
})

test('fault periods are shaded and missing data is hatched', t => {
  const svg = plotSvg(
    plot([trace('sa_t', 8, i => i < 60)], { others: [timed(FROM + 5 * HOUR, FROM + 6 * HOUR)] }),
    WIDE,
    'p',
    'x',
  ).text
  t.regex(svg, /class="fault"/)
  t.regex(svg, /class="fault other"/)
  t.regex(svg, /fill="url\(#p-hatch\)"/)
})

test('a trace without a single sample is drawn as no data', t => {
  const svg = plotSvg(plot([trace('sa_t', 8, () => true)]), WIDE, 'p', 'x').text
  t.is(strokes(svg).length, 0)
  t.notRegex(svg, /NaN|Infinity|undefined/)
})

test('the summary says the same in words', t => {
  t.is(
    plotSummary(plot([trace('sa_t', 8, i => i >= 420)])),
    'supply air temperature from 06:00 to 14:00. In fault (shaded) for 2 h; worst at 08:00. At least one input has no data for 1 h (hatched).',
  )
})

test('the table holds means and says where there is no data', t => {
  const { text } = plotTable(plot([trace('fan_status', 8), trace('sa_t', 8, i => i < 240)]))
  t.regex(text, /<th scope="col">supply air temperature <code>sa_t<\/code>, °C<\/th>/)
  t.regex(text, /no data/)
  t.true([...text.matchAll(/<tr>/g)].length <= 49)
})

test('history in the unit of its point is turned into the canonical unit of its role', t => {
  const series = { ts: Float64Array.of(FROM), values: Float64Array.of(68) }
  const buckets = toBuckets(series, FROM, FROM + HOUR, 4)
  t.is(Math.round(toCanonical(buckets, 'degF', 'sa_t')!.mean[0]!), 20)
  t.is(toCanonical(buckets, 'kW', 'sa_t'), undefined)
})

test('gaps begin and end with the samples around them, and an outage that lasts is there at once', t => {
  const { buckets } = trace('sa_t', 8, i => (i >= 60 && i < 120) || i >= 400)
  t.deepEqual(gapsOf(buckets, MINUTE, FROM + 8 * HOUR), [
    { from: FROM + HOUR, to: FROM + 2 * HOUR },
    { from: FROM + 400 * MINUTE, to: FROM + 8 * HOUR },
  ])
  t.deepEqual(gapsOf(buckets, 30 * MINUTE, FROM + 400 * MINUTE), [])
})

test('the nominal interval is read off dense and off sparse samples', t => {
  const dense = toBuckets({ ts: Float64Array.of(0, 5, 10, 15, 40, 45), values: new Float64Array(6) }, 0, 50, 5)
  t.is(usualInterval(dense), 5)
  t.is(usualInterval(trace('sa_t', 8).buckets), MINUTE)
  const quarterly = trace('sa_t', 8, i => i % 15 !== 0)
  t.is(usualInterval(quarterly.buckets), 15 * MINUTE)
})

test('spans are joined, cut, measured and laid over each other', t => {
  const spans = mergeSpans([
    { from: 5, to: 9 },
    { from: 0, to: 6 },
    { from: 12, to: 14 },
  ])
  t.deepEqual(spans, [
    { from: 0, to: 9 },
    { from: 12, to: 14 },
  ])
  t.is(totalLength(spans), 11)
  t.deepEqual(clipSpans(spans, 8, 13), [
    { from: 8, to: 9 },
    { from: 12, to: 13 },
  ])
  t.deepEqual(
    intersectSpans([
      spans,
      [
        { from: 1, to: 3 },
        { from: 8, to: 20 },
      ],
    ]),
    [
      { from: 1, to: 3 },
      { from: 8, to: 9 },
      { from: 12, to: 14 },
    ],
  )
  t.deepEqual(intersectSpans([]), [])
})

test('ticks fall on round hours of the building, also on the day that has 25 hours', t => {
  const day = Date.UTC(2026, 9, 31, 12)
  const ticks = timeTicks(day, day + 2 * DAY, ZONE, 10)
  t.true(ticks.length >= 6 && ticks.length <= 10)
  t.deepEqual(
    ticks.filter(tick => tick.day).map(({ at }) => dateOf(at, ZONE)),
    ['2026-11-01', '2026-11-02'],
  )
  t.deepEqual(
    timeTicks(FROM, FROM + 8 * HOUR, ZONE, 10).map(({ at }) => (at - FROM) / HOUR),
    [0, 1, 2, 3, 4, 5, 6, 7],
  )
})

test('a year fits with a few ticks', t => t.true(timeTicks(FROM, FROM + 365 * DAY, ZONE, 8).length <= 9))

test('value ticks enclose what they are for, evenly', t => {
  const number = fc.double({ min: -1e6, max: 1e6, noNaN: true })
  const property = fc.property(number, number, (a, b) => {
    const [low, high] = [Math.min(a, b), Math.max(a, b)]
    const ticks = valueTicks(low, high, 4)
    const slack = (ticks[1]! - ticks[0]!) * 1e-6
    return ticks.length >= 2 && ticks.length <= 8 && ticks[0]! <= low + slack && ticks.at(-1)! >= high - slack
  })
  t.notThrows(() => fc.assert(property, { numRuns: 1000, examples: [[-999_999.9999995001, -999_999.9999995012]] }))
})

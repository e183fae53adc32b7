/* What is drawn on the plot beside its lines. */

/** Height of a lane at the foot of the plot, CSS pixels. */
const LANE = 8

/** A colour of the style sheet, as it is in the look that is on. */
export const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Draws times in fault, overrides, times without data and the worst moment behind the lines; `from` and `to` are in seconds. */
export function paintTimes(u, { faults, overrides, noData, worst }, words) {
  const { ctx, bbox } = u
  const { left, top, width, height } = bbox
  const unit = window.devicePixelRatio || 1
  const x = seconds => Math.min(Math.max(u.valToPos(seconds, 'x', true), left), left + width)
  ctx.save()
  /* Only those in view: what is clamped to the edge would still have the least width of a bar. */
  const { min, max } = u.scales.x
  const inView = list => list.filter(({ from, to }) => from < max && to > min)
  for (const { from, to, own } of inView(faults)) {
    ctx.fillStyle = style(own ? '--shade' : '--shade-other')
    ctx.fillRect(x(from), top, x(to) - x(from), height)
  }
  ctx.fillStyle = style('--p1')
  for (const { from, to } of inView(faults))
    ctx.fillRect(x(from), top + height - LANE * unit, Math.max(2, x(to) - x(from)), LANE * unit - 2)
  ctx.fillStyle = style('--override')
  for (const { from, to } of inView(overrides))
    ctx.fillRect(x(from), top + height - 2 * LANE * unit, Math.max(2, x(to) - x(from)), LANE * unit - 2)
  ctx.strokeStyle = style('--edge')
  ctx.lineWidth = unit
  for (const { from, to } of noData) {
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
  if (worst >= min && worst < max) {
    const at = x(worst)
    ctx.strokeStyle = style('--text')
    ctx.setLineDash([2 * unit, 3 * unit])
    ctx.strokeRect(at, top, 0, height)
    ctx.fillStyle = style('--text')
    ctx.font = `${12 * unit}px sans-serif`
    ctx.textAlign = at > left + width / 2 ? 'right' : 'left'
    ctx.textBaseline = 'top'
    ctx.fillText(` ${say('worst {0}', words.clock(worst))} `, at, top + 2 * unit)
  }
  ctx.restore()
}

/** A bar across the end of each line that has ended, and since when; words that would cover one another are moved apart. */
export function markEnds(u, series) {
  const { ctx, bbox } = u
  const unit = window.devicePixelRatio || 1
  const { min, max } = u.scales.x
  const ends = series.flatMap((one, i) => {
    if (one.ended_at === undefined || one.ended_at < min * 1000 || one.ended_at >= max * 1000) return []
    const column = u.data[3 * i + 1]
    const last = column.findLastIndex(value => value !== null && value !== undefined)
    if (last < 0) return []
    const x = u.valToPos(u.data[0][last], 'x', true)
    return [{ words: one.ended, colour: style(`--t${i + 1}`), x, y: u.valToPos(column[last], one.unit || 'value', true) }]
  })
  const line = 15 * unit
  let next = bbox.top
  ctx.save()
  ctx.font = `${12 * unit}px sans-serif`
  ctx.textBaseline = 'middle'
  for (const { words, colour, x, y } of ends.toSorted((a, b) => a.y - b.y)) {
    ctx.fillStyle = colour
    ctx.fillRect(x - unit, y - 7 * unit, 3 * unit, 14 * unit)
    const isLeft = x + ctx.measureText(words).width + 12 * unit > bbox.left + bbox.width
    ctx.textAlign = isLeft ? 'right' : 'left'
    const middle = Math.max(next + line / 2, Math.min(y - 12 * unit, bbox.top + bbox.height - line / 2))
    next = middle + line / 2
    /* The line itself may run below the words. */
    ctx.lineWidth = 4 * unit
    ctx.strokeStyle = style('--card')
    ctx.strokeText(words, x + (isLeft ? -6 : 6) * unit, middle)
    ctx.fillText(words, x + (isLeft ? -6 : 6) * unit, middle)
  }
  ctx.restore()
}

/* The ends of the lines of trends.js that no newer value follows. */

/** A bar across the end of each line that has ended, and since when; words that would cover one another are moved apart. */
// oxlint-disable-next-line no-unused-vars -- trends.js calls it
function markEnds(u, series, style) {
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

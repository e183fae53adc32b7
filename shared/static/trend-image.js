/* The plot as a picture to keep. */
import { style } from './trend-marks.js'

/**
 * Saves the plot as it is seen, between the names of its lines and the time that it shows, on as many lines as these need.
 *
 * @param labels the words of each line and its colour
 * @param time in words
 * @param {string} name of the file
 */
export function savePng(canvas, { labels, time, name }) {
  const unit = window.devicePixelRatio || 1
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
  const head = rowsOf(labels, 2 * edge)
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
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
  })
}

/* Zooming by wheel and by fingers. */

/** How long wheel or fingers rest before the data is asked for, ms. */
const SETTLE_MS = 250

/**
 * The wheel and two fingers stretch what is seen at once.
 *
 * @param reach the least and greatest time that may be seen, ms
 * @param rested called with the time that is seen when they rest, so that finer data can follow
 */
export function zoomByHand(u, reach, rested) {
  let settle
  const stretch = (factor, at) => {
    const { min, max } = u.scales.x
    const next = { min: at - (at - min) * factor, max: at + (max - at) * factor }
    const length = (next.max - next.min) * 1000
    if (length < reach.least || length > reach.greatest) return
    u.setScale('x', next)
    clearTimeout(settle)
    settle = setTimeout(() => rested({ from: next.min * 1000, to: next.max * 1000 }), SETTLE_MS)
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
}

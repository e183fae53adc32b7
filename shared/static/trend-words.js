/* Times and values of the plot in words, as the rest of the page writes them. */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'].map(month => say(month))

/** @param {string} timezone of the building, whose clock is shown */
export function trendWords(timezone) {
  const { lang } = document.documentElement
  const numbers = decimals => new Intl.NumberFormat(lang, { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
  const onAxis = new Intl.NumberFormat(lang)
  const wall = seconds => uPlot.tzDate(new Date(seconds * 1000), timezone)
  const two = n => String(n).padStart(2, '0')
  const clockOf = at => `${two(at.getHours())}:${two(at.getMinutes())}`
  const dayOf = at => `${at.getDate()} ${MONTHS[at.getMonth()]}`
  const isMidnight = at => at.getHours() === 0 && at.getMinutes() === 0
  const dayAndClock = at => `${dayOf(at)} ${clockOf(at)}`
  return {
    wall,
    clock: seconds => clockOf(wall(seconds)),
    moment: seconds => dayAndClock(wall(seconds)),
    date: seconds => `${dayOf(wall(seconds))} ${wall(seconds).getFullYear()} ${clockOf(wall(seconds))}`,
    ticks: splits => splits.map(wall).map(at => (isMidnight(at) ? dayOf(at) : clockOf(at))),
    switches: splits => splits.map(value => ({ 0: say('off'), 1: say('on') })[value] ?? ''),
    numbers: splits => splits.map(value => onAxis.format(value)),
    /** A value of a line, with its unit or as the word of its state. */
    value(line, value) {
      if (value === null || value === undefined) return '–'
      if (line.kind === 'bool') return value >= 0.5 ? say('on') : say('off')
      if (line.kind !== 'number') return line.states?.[value] ?? String(value)
      return `${numbers(line.decimals).format(value)} ${line.unit}`.trim()
    },
  }
}

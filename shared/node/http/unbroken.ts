/** Keeps a figure and its unit on one line of a page. */

/** Units as pages write them. */
const UNITS = [
  ...['ms', 's', 'min', 'h', 'd', 'B', 'kB', 'MB', 'GB', 'TB', '%', 'K', '°C', '°F', 'K/h', 'ppm', 'rpm', 'Hz', 'A', 'V'],
  ...['W', 'kW', 'MW', 'Wh', 'kWh', 'MWh', 'MJ', 'kJ/kg', 'Btu/h', 'Btu/lb', 'therm', 'ton', 'hp'],
  ...['Pa', 'kPa', 'bar', 'psi', 'in.w.c.', 'ftwc', 'L/s', 'm³/h', 'm³/s', 'cfm', 'gpm', '€', '$'],
]
const escaped = (unit: string): string => unit.replaceAll(/[.$/]/g, String.raw`\$&`)
const FIGURE = new RegExp(`(\\d) (?=(?:${UNITS.map(escaped).join('|')})(?![\\w°²³/%]))`, 'g')
/** What is copied, sent back or read by programs stays as it is. */
const AS_IT_IS = /^(?:textarea|option|pre|code|kbd|title|script|style)\b/i

/** @param page markup in which `<` and `>` of texts and attributes are escaped, as `html` does it */
export const unbroken = (page: string): string =>
  page.replaceAll(FIGURE, (found, digit: string, at: number) => {
    const tag = page.lastIndexOf('<', at)
    const isText = page.lastIndexOf('>', at) > tag && !AS_IT_IS.test(page.slice(tag + 1, tag + 10))
    return isText ? `${digit}\u00a0` : found
  })

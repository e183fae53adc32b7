/** What a page must never show: a value that a template wrote as JavaScript prints it. */

/** The token of a form is random: it may spell any of them by chance. */
const TOKEN = /name="csrf" value="[^"]*"/g

/** The first `undefined`, `NaN` or `[object` of a page with the text around it; '' when there is none. */
export const brokenValue = (html: string): string =>
  /.{0,40}(?:undefined|NaN|\[object).{0,40}/.exec(html.replaceAll(TOKEN, ''))?.[0] ?? ''

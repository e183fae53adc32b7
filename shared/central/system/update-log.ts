import { type Html, html } from '#shared/node/http/html.ts'

/** The end of the log of a version that was left, as appliance and hub show it. */
export const logEnd = (log: readonly string[] | undefined): Html | false =>
  log !== undefined &&
  log.length > 0 &&
  html`<details><summary>The end of its log</summary><pre class="told">${log.join('\n')}</pre></details>`

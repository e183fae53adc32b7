/** The browser of the tests is that of the scripts. */
export { openChromium, type OpenBrowser } from '#scripts/lib/chromium.ts'

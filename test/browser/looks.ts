/** The screens that pages are looked at through. */
import type { ExecutionContext } from 'ava'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { axeFindings, overflow, smallControls } from './watch.ts'

const DESK = { viewport: { width: 1280, height: 900 } } as const
const TABLET = { viewport: { width: 920, height: 1200 } } as const
const PHONE = { viewport: { width: 390, height: 844 } } as const

const LOOKS = {
  'a desk in daylight': { ...DESK, colorScheme: 'light' },
  'a desk at night': { ...DESK, colorScheme: 'dark' },
  'a tablet in daylight': { ...TABLET, colorScheme: 'light' },
  'a tablet at night': { ...TABLET, colorScheme: 'dark' },
  'a phone in daylight': { ...PHONE, colorScheme: 'light' },
  'a phone at night': { ...PHONE, colorScheme: 'dark' },
  'more contrast': { ...PHONE, colorScheme: 'light', contrast: 'more' },
  'forced colours': { ...PHONE, colorScheme: 'dark', forcedColors: 'active' },
} as const satisfies Record<string, BrowserContextOptions>
type Look = keyof typeof LOOKS

/** @returns each look with its name, for the title of a test */
export const looks = (...names: Look[]) => names.map(name => [name, LOOKS[name]] as const)

/**
 * The page as it stands is accessible, no wider than the window, and its controls can be hit.
 *
 * @param least height of a control, CSS pixels: 48 where gloves are worn, 24 at a desk (WCAG 2.5.8)
 */
export async function expectClean(t: ExecutionContext, page: Page, where: string, least: number): Promise<void> {
  t.deepEqual(await axeFindings(page), [], where)
  t.is(await overflow(page), 0, where)
  t.deepEqual(await smallControls(page, least), [], where)
}

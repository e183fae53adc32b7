/** The German texts of pages. A text without an entry stays English. */
import { FRAME_DE } from './de/frame-de.ts'

const AREAS = [FRAME_DE]
/** German by English, as `scripts/language` lists what is missing. */
export const GERMAN_MESSAGES: ReadonlyMap<string, string> = new Map(AREAS.flatMap(area => Object.entries(area)))

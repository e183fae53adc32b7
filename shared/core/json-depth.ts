/** Maximum nesting of JSON from outside, so that nothing that walks it, or writes it as JSON again, overflows the stack. */
export const JSON_DEPTH_MAX = 32

const [QUOTE, BACKSLASH] = [0x22, 0x5c]

export const isTooDeep = (text: string): boolean => jsonDepth(text, JSON_DEPTH_MAX) > JSON_DEPTH_MAX

/** @returns how deep lists and objects are nested in JSON text; stops counting beyond `max` */
export function jsonDepth(text: string, max: number): number {
  let [depth, deepest] = [0, 0]
  for (let i = 0; i < text.length && deepest <= max; i++) {
    const char = text.charCodeAt(i)
    if (char === QUOTE) i = endOfString(text, i)
    else if (char === 0x5b || char === 0x7b) deepest = Math.max(deepest, ++depth)
    else if (char === 0x5d || char === 0x7d) depth--
  }
  return deepest
}

/** @returns where the string that begins at `start` has its closing quote; the end of the text where it has none */
function endOfString(text: string, start: number): number {
  let i = start + 1
  while (i < text.length && text.charCodeAt(i) !== QUOTE) i += text.charCodeAt(i) === BACKSLASH ? 2 : 1
  return i
}

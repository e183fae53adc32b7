/** Decodes character strings in the character sets of the standard, and in those that devices really send (135-2020 20.2.9). */

/** Upper halves of code pages that `TextDecoder` lacks. */
const PAGE_850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0'
const PAGE_437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'

const UPPER_HALVES = new Map([
  [850, PAGE_850],
  [437, PAGE_437],
])

/** Encodings of `TextDecoder` by code page. */
const PAGES = new Map([
  [866, 'ibm866'],
  [874, 'windows-874'],
  [932, 'shift_jis'],
  [936, 'gbk'],
  [949, 'euc-kr'],
  [950, 'big5'],
  ...Array.from({ length: 9 }, (_, i) => [1250 + i, `windows-${1250 + i}`] as const),
  [65_001, 'utf-8'],
])
/** The code page of western DOS, which devices mean that name none. */
const PAGE_UNNAMED = 850

/** @param content the octets after the character set */
export function decodeText(charset: number, content: Uint8Array): string {
  switch (charset) {
    case 1:
      return decodePaged(content)
    case 2:
      return decode('shift_jis', content)
    case 3:
      return decodeUcs4(content)
    case 4:
      // The standard has the high octet first; a mark of the opposite order comes from devices that store it low first.
      return decode(content[0] === 0xff && content[1] === 0xfe ? 'utf-16le' : 'utf-16be', content)
    case 5:
      return decode('latin1', content)
    default:
      return decodeUtf8(content)
  }
}

const decode = (encoding: string, content: Uint8Array): string => new TextDecoder(encoding).decode(content)

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Many older devices send ISO 8859-1 or windows-1252 and name UTF-8. */
function decodeUtf8(content: Uint8Array): string {
  return decodeWhole(content) ?? decodeCut(content) ?? decode('latin1', content)
}

function decodeWhole(content: Uint8Array): string | undefined {
  try {
    return UTF8.decode(content)
  } catch {
    return undefined
  }
}

/**
 * Devices cut long names within a character, which has up to four octets.
 *
 * @returns the text before it; undefined when that is ASCII, because a single letter at its end is rather ISO 8859-1
 */
function decodeCut(content: Uint8Array): string | undefined {
  for (let cut = 1; cut <= 3 && cut <= content.length; cut++) {
    if (content.at(-cut)! < 0x80) return undefined
    const text = decodeWhole(content.subarray(0, -cut))
    if (text !== undefined) return /[^\0-\x7f]/.test(text) ? text : undefined
  }
  return undefined
}

/** IBM/Microsoft DBCS: two octets with the number of the code page, then the text. Some devices leave the number out. */
function decodePaged(content: Uint8Array): string {
  const page = content.length < 2 ? 0 : (content[0]! << 8) | content[1]!
  const encoding = PAGES.get(page)
  if (encoding !== undefined) return decode(encoding, content.subarray(2))
  return UPPER_HALVES.has(page) ? decodeHalf(page, content.subarray(2)) : decodeHalf(PAGE_UNNAMED, content)
}

function decodeHalf(page: number, content: Uint8Array): string {
  const upper = UPPER_HALVES.get(page)!
  return Array.from(content, octet => (octet < 0x80 ? String.fromCharCode(octet) : upper[octet - 0x80]!)).join('')
}

function decodeUcs4(content: Uint8Array): string {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength)
  let text = ''
  for (let at = 0; at + 4 <= content.length; at += 4) {
    const point = view.getUint32(at)
    text += point <= 0x10_ffff ? String.fromCodePoint(point) : '\ufffd'
  }
  return text.toWellFormed()
}

/** Names as devices send them, in the declared character set and in another one. */
import test from 'ava'
import { decodeText } from '#appliance/drivers/bacnet/core/character-string.ts'
import { hex } from '../../../../support/wire.ts'

const utf8 = (text: string): Uint8Array => Buffer.from(text)
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')

for (const [name, charset, content, wanted] of [
  ['UTF-8', 0, utf8('Außentemperatur Süd 温度'), 'Außentemperatur Süd 温度'],
  ['an empty text', 0, utf8(''), ''],
  ['ISO 8859-1 declared as UTF-8', 0, latin1('Außenluft Süd'), 'Außenluft Süd'],
  ['windows-1252 declared as UTF-8', 0, hex('80 20 75 72 6f'), '€ uro'],
  ['ISO 8859-1 declared as UTF-8 that ends with the first octet of a longer character', 0, latin1('Maß'), 'Maß'],
  ['UTF-8 that is cut within a character', 0, utf8('Küche Süd').subarray(0, 9), 'Küche S'],
  ['code page 850', 1, hex('0352 4b 81 68 6c 65 72'), 'Kühler'],
  ['code page 437', 1, hex('01b5 4b 81 68 6c 65 72'), 'Kühler'],
  ['code page 1252', 1, hex('04e4 4b fc 68 6c 65 72'), 'Kühler'],
  ['code page 932', 1, hex('03a4 89b7 9378'), '温度'],
  ['a code page that is left out', 1, hex('4b 81 68 6c 65 72'), 'Kühler'],
  ['one octet with a code page that is left out', 1, hex('4b'), 'K'],
  ['JIS X 0208', 2, hex('89b7 9378'), '温度'],
  ['UCS-4', 3, hex('0000004b 000000fc 0001f600'), 'Kü😀'],
  ['UCS-4 beyond Unicode', 3, hex('0000004b 7fffffff'), 'K�'],
  ['UCS-4 with a surrogate and octets too many', 3, hex('0000d800 0000'), '�'],
  ['UCS-2', 4, hex('004b 00fc'), 'Kü'],
  ['UCS-2 with a mark of its order', 4, hex('feff 004b 00fc'), 'Kü'],
  ['UCS-2 with the low octet first', 4, hex('fffe 4b00 fc00'), 'Kü'],
  ['ISO 8859-1', 5, latin1('Zuluft °C'), 'Zuluft °C'],
  ['an unknown character set', 9, utf8('Kühler'), 'Kühler'],
] as const) {
  test(`${name} is decoded`, t => t.is(decodeText(charset, content), wanted))
}

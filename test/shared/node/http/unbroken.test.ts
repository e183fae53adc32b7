import test from 'ava'
import { unbroken } from '#shared/node/http/unbroken.ts'

/** `_` stands for a blank that does not break. */
for (const [given, shown] of [
  ['<td>1.1 kB sent, 8.4 MB received</td>', '<td>1.1_kB sent, 8.4_MB received</td>'],
  ['<p>for 1 d 3 h 5 min, 96 % full</p>', '<p>for 1_d 3_h 5_min, 96_% full</p>'],
  ['<b>21.5 °C</b> and 0.5 in.w.c., 340 L/s', '<b>21.5_°C</b> and 0.5_in.w.c., 340_L/s'],
  ['<text>300 m³/h</text>', '<text>300_m³/h</text>'],
  ['<p>3 devices, 5 minutes, 2 sensors, floor 3 has 5 Hzx</p>', undefined],
  ['<input value="5 kW" placeholder="24 h">', undefined],
  ['<textarea name="note">holds at 5 kW</textarea>', undefined],
  ['<option value="1">24 h</option>', undefined],
  ['<code>WAIT=5 s</code>', undefined],
  ['<p>a &lt; 5 kW &gt; b</p>', '<p>a &lt; 5_kW &gt; b</p>'],
] as const) {
  test(`${given} is ${shown ?? 'left as it is'}`, t => t.is(unbroken(given), (shown ?? given).replaceAll('_', '\u00a0')))
}

/** Registers of Modbus devices. */
import { nameTable } from '#shared/core/name-table.ts'

export const MODBUS_DE = nameTable<string>({
  '{0} refuses: {1}': '{0} verweigert: {1}',
  'Modbus registers': 'Modbus-Register',
  'holding registers': 'Holding-Register',
  'input registers': 'Input-Register',
  coils: 'Coils',
  'discrete inputs': 'Discrete Inputs',
  'Reads a device now, in turn with polling, and shows the same bytes in every format and order. Nothing is written.':
    'Liest ein Gerät sofort, im Wechsel mit der Abfrage, und zeigt dieselben Bytes in jedem Format und jeder Reihenfolge. Nichts wird geschrieben.',
  'No enabled Modbus device is in the catalogue.': 'Kein eingeschaltetes Modbus-Gerät steht in der Liste.',
  Table: 'Tabelle',
  Read: 'Lesen',
  Polled: 'Abgefragt',
  'First address, from 0': 'Erste Adresse, ab 0',
  'Number of registers or bits': 'Anzahl der Register oder Bits',
  '1 bit|{0} bits': '1 Bit|{0} Bits',
  '1 register|{0} registers': '1 Register|{0} Register',
  '{0} of {1}, read {2}, in {3} ms': '{0} von {1}, gelesen {2}, in {3} ms',
  'As received': 'Wie empfangen',
  'Values that begin at register {0}': 'Werte, die bei Register {0} beginnen',
  'The letters are in the order in which the bytes arrive, A the most significant. Point address of such a value: <1>{0}:{1}:FORMAT:ORDER</1>':
    'Die Buchstaben stehen in der Reihenfolge, in der die Bytes ankommen, A ist das höchstwertige. Punktadresse eines solchen Werts: <1>{0}:{1}:FORMAT:ORDER</1>',
  '1, on': '1, ein',
  '0, off': '0, aus',
  Hex: 'Hex',
  Unsigned: 'Ohne Vorzeichen',
  Bits: 'Bits',
  'Bit 15 is first. Choose an address to see the values that begin there.':
    'Bit 15 steht vorn. Wählen Sie eine Adresse, um die Werte zu sehen, die dort beginnen.',
  '* has more digits than the history stores': '* hat mehr Stellen, als der Verlauf speichert',
})

/** Trends. */
import { nameTable } from '#shared/core/name-table.ts'

export const TRENDS_DE = nameTable<string>({
  ended: 'zu Ende',
  'no value since {0}': 'kein Wert seit {0}',
  'Save this view as': 'Diese Ansicht speichern als',
  'Save view': 'Ansicht speichern',
  Trace: 'Linie',
  View: 'Ansicht',
  Shows: 'Zeigt',
  Saved: 'Gespeichert',
  '{0} <1>by {1}</1>': '{0} <1>von {1}</1>',
  '{0} no longer there': '{0} nicht mehr vorhanden',
  'Saved views': 'Gespeicherte Ansichten',
  'None yet. A view keeps points, time and comparison, and everyone who signs in here sees it.':
    'Noch keine. Eine Ansicht behält Punkte, Zeit und Vergleich, und jeder, der sich hier anmeldet, sieht sie.',
  'the last {0}': 'letzter Zeitraum: {0}',
  ', compared with {0}': ', verglichen mit {0}',
  'Rename or delete<1> {0}</1>': 'Umbenennen oder löschen<1> {0}</1>',
  Rename: 'Umbenennen',
  '{0} is deleted.': '{0} ist gelöscht.',
  'Delete for everyone': 'Für alle löschen',
  'A year': 'Ein Jahr',
  'No point is chosen yet': 'Noch ist kein Punkt gewählt',
  'Search for points below, or go down the equipment to them. A point, an equipment and a fault also have a link here.':
    'Suchen Sie unten nach Punkten, oder gehen Sie durch die Anlagen zu ihnen hinab. Auch ein Punkt, eine Anlage und eine Störung haben einen Verweis hierher.',
  'CSV of this time': 'CSV dieser Zeit',
  'PNG of this plot': 'PNG dieser Kurve',
  Plot: 'Kurve',
  Earlier: 'Früher',
  Later: 'Später',
  'Zoom out': 'Verkleinern',
  'At most {0} points are compared with a day or a week before.':
    'Höchstens {0} Punkte werden mit einem Tag oder einer Woche davor verglichen.',
  'Compare with the same time': 'Mit derselben Zeit vergleichen',
  'Remove<1> {0}</1>': 'Entfernen<1> {0}</1>',
  'More than {0} lines cannot be told apart. Remove one to add another.':
    'Mehr als {0} Linien lassen sich nicht unterscheiden. Entfernen Sie eine, um eine andere hinzuzufügen.',
  'Add points': 'Punkte hinzufügen',
  'Add points: name, role or address': 'Punkte hinzufügen: Name, Rolle oder Adresse',
  'No point has “{0}” in its name, role or address.': 'Kein Punkt hat „{0}“ in Name, Rolle oder Adresse.',
  'Points by equipment': 'Punkte nach Anlage',
  'All equipment': 'Alle Anlagen',
  'Other points of the same equipment': 'Andere Punkte derselben Anlage',
  '<1>Add {0}</1> <2>{1}</2>': '<1>{0} hinzufügen</1> <2>{1}</2>',
})

/** Packages of history. */
import { nameTable } from '#shared/core/name-table.ts'

export const IMPORT_DE = nameTable<string>({
  error: 'Fehler',
  warning: 'Warnung',
  note: 'Hinweis',
  'History of a building as a CSV package: a ZIP with <1>manifest.json</1>, and for each equipment <2>history_wide.csv</2> and <3>column_map.json</3>; or a single table. Nothing is changed before you have seen the report.':
    'Verlauf eines Gebäudes als CSV-Paket: ein ZIP mit <1>manifest.json</1> und für jede Anlage <2>history_wide.csv</2> und <3>column_map.json</3>; oder eine einzelne Tabelle. Nichts wird geändert, bevor Sie den Bericht gesehen haben.',
  'A ZIP': 'Ein ZIP',
  Package: 'Paket',
  'Check the package': 'Paket prüfen',
  'A single table': 'Eine einzelne Tabelle',
  'CSV file': 'CSV-Datei',
  'Building id': 'Gebäude-Id',
  'Europe/Berlin': 'Europe/Berlin',
  'Minutes between rows': 'Minuten zwischen den Zeilen',
  'Equipment of its columns': 'Anlage ihrer Spalten',
  'AHU-1': 'AHU-1',
  'Type of it': 'Ihre Art',
  'What each column is, also of other equipment, is said after the upload, with samples of its values.':
    'Was jede Spalte ist, auch von anderen Anlagen, sagen Sie nach dem Hochladen, mit Beispielen ihrer Werte.',
  'Check the table': 'Tabelle prüfen',
  'Take history along': 'Verlauf mitnehmen',
  'History that is stored here as a ZIP that this page takes again, here or on another box or hub: every sample at its time, with role, unit and name of its point. Points of no equipment are left out, and texts of states go with the model.':
    'Der hier gespeicherte Verlauf als ZIP, das diese Seite wieder annimmt, hier oder auf einer anderen Box oder einem Hub: jeder Messwert zu seiner Zeit, mit Rolle, Einheit und Namen seines Punktes. Punkte ohne Anlage bleiben weg, und Texte von Zuständen gehen mit dem Modell.',
  'Equipment id, empty for all': 'Kennung der Anlage, leer für alle',
  'From, empty for the beginning': 'Von, leer für den Anfang',
  'Through, empty for the end': 'Bis einschließlich, leer für das Ende',
  'Report of the package': 'Bericht zum Paket',
  '<1>Say what the columns are</1>: equipment, role and unit of each, and the time. Samples stand beside them.':
    '<1>Sagen Sie, was die Spalten sind</1>: Anlage, Rolle und Einheit jeder Spalte und die Zeit. Beispiele stehen daneben.',
  'Of {0} of {1}, {2} were stored, {3} were there already and {4} were rejected.':
    'Von {0} von {1} wurden {2} gespeichert, {3} waren schon da und {4} wurden abgelehnt.',
  'To start from: <1>an example of a package</1>, <2>an example of a table</2>.':
    'Zum Anfangen: <1>ein Beispiel eines Pakets</1>, <2>ein Beispiel einer Tabelle</2>.',
  'Rejected rows alone, to correct and import: {0}': 'Nur die abgelehnten Zeilen, zum Berichtigen und Importieren: {0}',
  'Of its samples, {0} are new or changed and {1} are stored already.':
    'Von ihren Werten sind {0} neu oder geändert, und {1} sind schon gespeichert.',
  'Count what is new': 'Zählen, was neu ist',
  '<1>Assign roles to its points</1> or look at its <2>faults</2> after the next run.':
    '<1>Geben Sie seinen Punkten Rollen</1> oder sehen Sie sich nach dem nächsten Lauf seine <2>Störungen</2> an.',
  '1 row|{0} rows': '1 Zeile|{0} Zeilen',
  '{0}, {1} rejected{2}': '{0}, {1} abgelehnt{2}',
  '(<1>list</1>)': '(<1>Liste</1>)',
  '<1>It cannot be imported.</1> {0}': '<1>Es kann nicht importiert werden.</1> {0}',
  'Say below what the columns are, or correct what is marked as an error and upload it again.':
    'Sagen Sie unten, was die Spalten sind, oder berichtigen Sie, was als Fehler gekennzeichnet ist, und laden Sie es noch einmal hoch.',
  'Correct what is marked as an error and upload it again.':
    'Berichtigen Sie, was als Fehler gekennzeichnet ist, und laden Sie es noch einmal hoch.',
  'It can be imported into the building <1>{0}</1>: {1}.': 'Es kann in das Gebäude <1>{0}</1> importiert werden: {1}.',
  'Where samples are stored already': 'Wo schon Werte gespeichert sind',
  'add what is new': 'Neues hinzufügen',
  'replace the history of these points': 'den Verlauf dieser Punkte ersetzen',
  Checks: 'Prüfungen',
  Count: 'Anzahl',
  Examples: 'Beispiele',
  'from {0} to {1}': 'von {0} bis {1}',
  'from {0} to {1} <1>({2} to {3})</1>': 'von {0} bis {1} <1>({2} bis {3})</1>',
  'none <1>perhaps {0}</1>': 'keine <1>vielleicht {0}</1>',
  'month first: 5/7 is 7 May': 'Monat zuerst: 5/7 ist der 7. Mai',
  'day first: 5/7 is 5 July': 'Tag zuerst: 5/7 ist der 5. Juli',
  '<1>Import</1> <2>›</2> <3>Report</3>': '<1>Import</1> <2>›</2> <3>Bericht</3>',
  'What the columns are': 'Was die Spalten sind',
  'Give each column its equipment, its role and its unit. Nothing is imported by this: the table is checked again, and you see the report.':
    'Geben Sie jeder Spalte ihre Anlage, ihre Rolle und ihre Einheit. Importiert wird damit nichts: Die Tabelle wird noch einmal geprüft, und Sie sehen den Bericht.',
  Time: 'Zeit',
  'Column of the time': 'Spalte der Zeit',
  'Time of day in a column of its own': 'Uhrzeit in einer eigenen Spalte',
  'Order of day and month': 'Reihenfolge von Tag und Monat',
  'For times without an offset. First time: <1>{0}</1>{1}': 'Für Zeiten ohne Versatz. Erste Zeit: <1>{0}</1>{1}',
  'Building and equipment': 'Gebäude und Anlagen',
  'Units where nothing says them': 'Einheiten, wo nichts sie angibt',
  'A column without equipment is left out. One without a role is stored and shown; no rule reads it.':
    'Eine Spalte ohne Anlage wird ausgelassen. Eine ohne Rolle wird gespeichert und gezeigt; keine Regel liest sie.',
  'Check the table again': 'Tabelle noch einmal prüfen',
  'Nothing was changed.': 'Nichts wurde geändert.',
  'no, it is in the same': 'nein, sie steht in derselben',
  'as the dates show it': 'wie die Daten es zeigen',
  'those of the building': 'die des Gebäudes',
  '1 column|{0} columns': '1 Spalte|{0} Spalten',
  'The {0} after these stay as they are; a program maps them with <1>PUT /api/csv/import/preflight/…/mapping</1>.':
    '{0} danach bleiben, wie sie sind; ein Programm ordnet sie zu mit <1>PUT /api/csv/import/preflight/…/mapping</1>.',
  Type: 'Art',
  'Equipment {0}': 'Anlage {0}',
  'Another equipment': 'Eine andere Anlage',
  choose: 'wählen',
  'the time': 'die Zeit',
  'Equipment of {0}': 'Anlage von {0}',
  'perhaps {0}, {1}': 'vielleicht {0}, {1}',
  blank: 'leer',
  'no row': 'keine Zeile',
  ', read as {0}; the last one {1}': ', gelesen als {0}; die letzte {1}',
  'Check again with {0}': 'Noch einmal prüfen mit {0}',
  '1 likely role|{0} likely roles': '1 wahrscheinliche Rolle|{0} wahrscheinliche Rollen',
  '1 table|{0} tables': '1 Tabelle|{0} Tabellen',
  'Building, time zone, units and minutes between rows count for all of them.':
    'Gebäude, Zeitzone, Einheiten und Minuten zwischen den Zeilen gelten für alle.',
  'its columns are not said yet': 'ihre Spalten sind noch nicht benannt',
  'Leave {0} out': '{0} weglassen',
  'It is not imported. To bring it back, upload the package again.':
    'Sie wird nicht importiert. Um sie zurückzuholen, laden Sie das Paket noch einmal hoch.',
  'Leave this table out': 'Diese Tabelle weglassen',
})

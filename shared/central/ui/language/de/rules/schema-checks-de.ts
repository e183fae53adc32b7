/** What the checks of a schema say of a field, as AJV words it, without the field before it. */
import { nameTable } from '#shared/core/name-table.ts'

export const SCHEMA_CHECKS_DE = nameTable<string>({
  'is not a known field': 'ist kein bekanntes Feld',
  'must be string': 'muss ein Text sein',
  'must be number': 'muss eine Zahl sein',
  'must be integer': 'muss eine ganze Zahl sein',
  'must be boolean': 'muss true oder false sein',
  'must be object': 'muss aus Feldern bestehen',
  'must be array': 'muss eine Liste sein',
  'must be null': 'muss leer sein',
  'must be one of {0}': 'muss eines sein von {0}',
  'must be equal to constant': 'muss den einen erlaubten Wert haben',
  'must be >= {0}': 'muss mindestens {0} sein',
  'must be <= {0}': 'darf höchstens {0} sein',
  'must be > {0}': 'muss mehr als {0} sein',
  'must be < {0}': 'muss weniger als {0} sein',
  'must NOT have fewer than {0} characters': 'muss mindestens {0} Zeichen haben',
  'must NOT have more than {0} characters': 'darf höchstens {0} Zeichen haben',
  'must NOT have fewer than {0} items': 'muss mindestens {0} Einträge haben',
  'must NOT have more than {0} items': 'darf höchstens {0} Einträge haben',
  'must NOT have fewer than {0} properties': 'muss mindestens {0} Felder haben',
  'must NOT have more than {0} properties': 'darf höchstens {0} Felder haben',
  'must NOT have duplicate items (items ## {0} and {1} are identical)': 'darf nichts doppelt enthalten (Einträge {0} und {1})',
  'must match pattern {0}': 'muss dem Muster {0} entsprechen',
  'may have letters, digits, dots, hyphens and underscores, at most 128':
    'darf Buchstaben ohne Umlaute, Ziffern, Punkte, Binde- und Unterstriche haben, höchstens 128',
  'must match format {0}': 'muss das Format {0} haben',
  'must have required property {0}': 'braucht das Feld {0}',
  'must match a schema in anyOf': 'passt auf keine der erlaubten Formen',
})

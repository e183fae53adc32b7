/** What a schema refuses, in German: the checks that routes state, with what AJV says of them. */

/** A schema for each check that a route may state, with a value that does not fit. */
export const UNFIT: [object, unknown, string][] = [
  [{ type: 'string' }, 7, '/x muss ein Text sein, nicht 7'],
  [{ type: 'integer' }, 1.5, '/x muss eine ganze Zahl sein, nicht 1,5'],
  [{ type: 'number' }, 'a', '/x muss eine Zahl sein, nicht "a"'],
  [{ type: 'boolean' }, 'a', '/x muss true oder false sein, nicht "a"'],
  [{ type: 'array' }, 'a', '/x muss eine Liste sein, nicht "a"'],
  [{ type: 'object' }, 'a', '/x muss aus Feldern bestehen, nicht "a"'],
  [{ type: 'null' }, 'a', '/x muss leer sein, nicht "a"'],
  [{ type: 'string', enum: ['a', 'b'] }, 'c', '/x muss eines sein von a, b, nicht "c"'],
  [{ const: true }, false, '/x muss den einen erlaubten Wert haben, nicht false'],
  [{ type: 'number', minimum: 1.5 }, 0, '/x muss mindestens 1,5 sein, nicht 0'],
  [{ type: 'number', maximum: 3 }, 4, '/x darf höchstens 3 sein, nicht 4'],
  [{ type: 'number', exclusiveMinimum: 3 }, 3, '/x muss mehr als 3 sein, nicht 3'],
  [{ type: 'number', exclusiveMaximum: 3 }, 3, '/x muss weniger als 3 sein, nicht 3'],
  [{ type: 'string', minLength: 2 }, 'a', '/x muss mindestens 2 Zeichen haben'],
  [{ type: 'string', maxLength: 2 }, 'abc', '/x darf höchstens 2 Zeichen haben'],
  [{ type: 'string', pattern: '^a$' }, 'b', '/x muss dem Muster "^a$" entsprechen, nicht "b"'],
  [{ type: 'array', minItems: 1 }, [], '/x muss mindestens 1 Einträge haben'],
  [{ type: 'array', maxItems: 1 }, [1, 2], '/x darf höchstens 1 Einträge haben'],
  [{ type: 'array', uniqueItems: true }, [1, 1], '/x darf nichts doppelt enthalten (Einträge 0 und 1)'],
  [{ type: 'object', minProperties: 1 }, {}, '/x muss mindestens 1 Felder haben'],
  [{ type: 'object', maxProperties: 0 }, { a: 1 }, '/x darf höchstens 0 Felder haben'],
  [{ type: 'object', required: ['a'] }, {}, "/x braucht das Feld 'a'"],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 7, '/x muss ein Text sein, nicht 7'],
  [{ type: 'object', additionalProperties: false }, { a: 1 }, '/x/a ist kein bekanntes Feld'],
]

/** The keywords of schemas that are tried here: a rewording of AJV's message for one of them is noticed. */
export const TRIED_KEYWORDS: ReadonlySet<string> = new Set(UNFIT.flatMap(([schema]) => Object.keys(schema)))

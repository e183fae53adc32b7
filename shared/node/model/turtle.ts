/** Triples as Turtle. */
import { DataFactory, Parser, Writer } from 'n3'
import { PREFIXES, type Triple } from '#shared/core/model/exchange/brick-model.ts'

const { literal, namedNode, quad } = DataFactory

export function writeTurtle(triples: readonly Triple[]): string {
  const writer = new Writer({ prefixes: PREFIXES })
  for (const { subject, predicate, object } of triples) {
    const value = 'iri' in object ? namedNode(object.iri) : literal(object.text, object.datatype && namedNode(object.datatype))
    writer.addQuad(quad(namedNode(subject), namedNode(predicate), value))
  }
  let text = ''
  writer.end((error, result: string) => {
    if (error) throw error
    text = result
  })
  return text
}

/** @throws Error that names the line when the text is no Turtle */
export function readTurtle(text: string): Triple[] {
  return new Parser().parse(text).map(({ subject, predicate, object }) => ({
    subject: subject.value,
    predicate: predicate.value,
    object: object.termType === 'Literal' ? { text: object.value, datatype: object.datatype.value } : { iri: object.value },
  }))
}

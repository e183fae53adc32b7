import test from 'ava'
import { csvLine, withoutGuard } from '#shared/core/csv/write-csv.ts'

const FORMULAS = [
  '=1+1',
  '+SUM(A1)',
  '-cmd',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
  ' =1',
  '"=1"',
  "'=1",
  ` "' =1`,
  '-1+1',
  '+1',
  '＝1+1',
  '＠SUM(A1)',
  '\u0000=1+1',
  '\u001b\u0000 =1+1',
]

for (const text of FORMULAS) {
  test(`a cell that a spreadsheet would run as a formula gets an apostrophe in front: ${JSON.stringify(text)}`, t => {
    t.regex(csvLine([text]), /^"?'/)
  })
}

test('numbers stay numbers, and texts that only contain a sign stay as they are', t => {
  t.is(csvLine([-2, '-2.5', '1e-5', '-3e+7', 'AHU-1', 'a=b']), '-2,-2.5,1e-5,-3e+7,AHU-1,a=b\r\n')
})

test('missing cells are empty, line breaks become a blank, and delimiters and quotes are quoted', t => {
  t.is(csvLine([undefined, null, '', 0]), ',,,0\r\n')
  t.is(csvLine(['a\r\nb\tc', 'd,e', 'f"g']), 'a b c,"d,e","f""g"\r\n')
  t.is(csvLine(['a\u0000b\u001fc\u0085d']), 'a b c d\r\n', 'nor is any other control character in a file')
  t.is(csvLine(['d,e', 'f;g'], ';'), 'd,e;"f;g"\r\n')
})

for (const [text, wanted] of [
  ['fan;=1+1', "fan;'=1+1\r\n"],
  ['fan; "@x', `"fan;' ""@x"\r\n`],
  ['=1;-2', "'=1;'-2\r\n"],
  ["a;'=1", "a;''=1\r\n"],
  ['fan; 2', 'fan; 2\r\n'],
] as const) {
  test(`where the semicolon begins a cell, no formula stands after it, and the import gives the text back: ${text}`, t => {
    const line = csvLine([text])
    t.is(line, wanted)
    t.is(
      withoutGuard(
        line
          .trimEnd()
          .replace(/^"(.*)"$/, '$1')
          .replaceAll('""', '"'),
      ),
      text,
    )
  })
}

import test from 'ava'
import { readPlaybook, splitSections } from '#shared/core/documents/sections.ts'

const DOCUMENT = `before

# The \`API\`

First lines.

## Routes of [central](../central.md)

\`\`\`sh
# a comment of a shell, no heading
\`\`\`
after it

### Deep one
deep

## Routes of central
the second

~~~
## within a fence
\`\`\`
~~~
`

test('a document is split at its headings, each with the titles above it and an anchor of its own', t => {
  const sections = splitSections('hub/API.md', DOCUMENT)
  t.deepEqual(
    sections.map(({ id, level, title, chapters }) => ({ id, level, title, chapters })),
    [
      { id: 'hub/API.md', level: 1, title: 'hub/API.md', chapters: [] },
      { id: 'hub/API.md#the-api', level: 1, title: 'The API', chapters: [] },
      { id: 'hub/API.md#routes-of-central', level: 2, title: 'Routes of central', chapters: ['The API'] },
      { id: 'hub/API.md#deep-one', level: 3, title: 'Deep one', chapters: ['The API', 'Routes of central'] },
      { id: 'hub/API.md#routes-of-central-1', level: 2, title: 'Routes of central', chapters: ['The API'] },
    ],
  )
  t.deepEqual(
    sections.map(({ text }) => text),
    [
      'before',
      'First lines.',
      '```sh\n# a comment of a shell, no heading\n```\nafter it',
      'deep',
      'the second\n\n~~~\n## within a fence\n```\n~~~',
    ],
  )
})

test('a document without text has no sections, and one with other line ends is read the same', t => {
  t.deepEqual(splitSections('a.md', ''), [])
  t.deepEqual(splitSections('a.md', '\n \n'), [])
  t.deepEqual(splitSections('a.md', '# One\r\ntext\r\n'), splitSections('a.md', '# One\ntext\n'))
})

test('a playbook is a section with a task; a step goes on over lines that are indented', t => {
  const text = 'Task: `edge_silent`\n\nIntro.\n\n1. Look\n   closely.\n2. Act.\n\nEnd.'
  const section = { id: 'p.md#x', path: 'p.md', level: 2, title: 'X', chapters: [], text }
  t.deepEqual(readPlaybook(section), {
    task_type: 'edge_silent',
    title: 'X',
    section_id: 'p.md#x',
    text: 'Intro.\n\n1. Look\n   closely.\n2. Act.\n\nEnd.',
    steps: ['Look closely.', 'Act.'],
  })
  t.is(readPlaybook({ ...section, text: 'no task' }), undefined)
})

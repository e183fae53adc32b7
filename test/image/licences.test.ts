import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { debianLicences, licenceFile, licenceNames, nodeLicences } from '#image/build/licences.ts'
import { folder } from '../support/folders.ts'

const DEP5 = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2020 Somebody
License: GPL-2+

Files: lib/*
License: LGPL-2.1+ and MIT
 Permission is hereby granted

License: GPL-2+
 On Debian systems the text is in /usr/share/common-licenses/GPL-2
`
const OLD = 'It is under the terms in /usr/share/common-licenses/GPL-3, or /usr/share/common-licenses/LGPL-2.1.\n'

test('licences are named as the file of copyright has them, each once', t => {
  t.deepEqual(licenceNames(DEP5), ['GPL-2+', 'LGPL-2.1+ and MIT'])
  t.deepEqual(licenceNames(OLD), ['GPL-3', 'LGPL-2.1'])
  t.deepEqual(licenceNames('Public domain.'), [])
})

test('a package whose documents are those of another has its text, and one without a text ends the build', t => {
  const root = folder(t)
  const doc = join(root, 'usr/share/doc')
  mkdirSync(join(doc, 'gcc-14-base'), { recursive: true })
  writeFileSync(join(doc, 'gcc-14-base/copyright'), OLD)
  symlinkSync('gcc-14-base', join(doc, 'libgcc-s1'))
  const one = (name: string) => ({ name, version: '1', arch: 'arm64', sha256: '' })
  t.deepEqual(
    debianLicences(root, [one('gcc-14-base'), one('libgcc-s1')]).map(({ licences }) => licences),
    [
      ['GPL-3', 'LGPL-2.1'],
      ['GPL-3', 'LGPL-2.1'],
    ],
  )
  t.throws(() => debianLicences(root, [one('libgcc-s1'), one('kmod'), one('udev')]), { message: /copyright of kmod, udev$/ })
})

test('the file of licences lists every package and has each text once', t => {
  const at = folder(t)
  writeFileSync(join(at, 'LICENSE.md'), 'MIT text\n')
  writeFileSync(join(at, 'index.js'), '')
  const node = { version: '2.0.0', license: 'MIT', integrity: '', path: 'node_modules/a', folder: at }
  const packages = [
    { name: 'kmod', version: '34', licences: ['GPL-2+'], text: DEP5 },
    { name: 'libkmod2', version: '34', licences: ['GPL-2+'], text: DEP5 },
    ...nodeLicences([
      { ...node, name: 'a' },
      { ...node, name: 'bare', folder: folder(t) },
    ]),
  ]
  const text = licenceFile({ name: 'plenum', version: '1', licences: [], text: 'own' }, packages)
  t.deepEqual(text.split('\n').slice(0, 6), [
    'plenum 1: see its text',
    'kmod 34: GPL-2+',
    'libkmod2 34: GPL-2+',
    'a 2.0.0: MIT',
    'bare 2.0.0: MIT (the package brings no text)',
    '',
  ])
  t.is(text.split('Copyright: 2020 Somebody').length, 2)
  t.true(text.includes('\nkmod, libkmod2\n'))
  t.true(text.includes('\nMIT text\n'))
})

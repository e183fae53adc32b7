import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { copyLibraries } from '#image/build/libraries.ts'
import { targetHere } from '#image/build/target.ts'
import { folder } from '../support/folders.ts'
import { testWhere } from '../support/optional.ts'

const isRoot = process.getuid?.() === 0

testWhere(isRoot)('a program runs where only it and its copied libraries are', t => {
  const root = folder(t)
  for (const name of ['bin', `usr/lib/${targetHere().triplet}`]) mkdirSync(join(root, name), { recursive: true })
  copyFileSync('/usr/bin/sha256sum', join(root, 'bin/sha256sum'))
  copyLibraries(root, 'bin/sha256sum', { root: '/', target: targetHere() })
  t.regex(execFileSync('/usr/sbin/chroot', [root, '/bin/sha256sum', '--version'], { encoding: 'utf8' }), /coreutils/)
})

/** The lock of Debian's packages: what is written, what is refused, and that the committed one fits what an image asks for. */
import { readFileSync } from 'node:fs'
import test from 'ava'
import { readPackageList } from '#image/build/package-list.ts'
import {
  askedPackages,
  type DebianPackage,
  type Lock,
  lockChanges,
  lockedSet,
  lockOf,
  readLock,
  SETS,
} from '#image/build/package-lock.ts'
import { readUris } from '#image/build/packages.ts'
import { ARCHITECTURES } from '#image/build/target.ts'

const one = (name: string, version = '1.0-1', hash = 'a'): DebianPackage => ({
  name,
  version,
  arch: 'arm64',
  sha256: hash.repeat(64),
})
const ASKED = { root: ['systemd'], kernel: ['linux'], container: ['libc6'] }
const RESOLVED = {
  root: [one('systemd', '257.13-1~deb13u1'), one('libc6')],
  kernel: [one('linux'), one('libc6')],
  container: [one('libc6')],
}
const lock: Lock = { arm64: lockOf(ASKED, RESOLVED) }

test('a set of the lock is what was resolved for it, sorted by name', t => {
  t.deepEqual(lockedSet(lock, 'arm64', 'root', ASKED.root), [one('libc6'), one('systemd', '257.13-1~deb13u1')])
  t.deepEqual(lockedSet(lock, 'arm64', 'container', ASKED.container), [one('libc6')])
})

test('one package in two versions is refused', t => {
  const other = { ...RESOLVED, kernel: [one('libc6', '1.0-2')] }
  t.throws(() => lockOf(ASKED, other), { message: /^libc6 is both 1\.0-1 arm64 a+ and 1\.0-2 arm64 a+$/ })
})

test('a lock of other packages, of no such processor, or with a broken entry says what to do', t => {
  t.throws(() => lockedSet(lock, 'arm64', 'root', ['systemd', 'rauc']), { message: /other packages \(rauc\); write it anew/ })
  t.throws(() => lockedSet(lock, 'arm64', 'root', []), { message: /other packages \(systemd\)/ })
  t.throws(() => lockedSet(lock, 'amd64', 'root', ['systemd']), { message: /nothing for amd64; write it/ })
  for (const entry of ['1.0', `1.0 arm64 ${'A'.repeat(64)}`, undefined]) {
    const packages = { ...lock.arm64!.packages, libc6: entry as string }
    const broken = { arm64: { ...lock.arm64!, packages } }
    t.throws(() => lockedSet(broken, 'arm64', 'root', ['systemd']), { message: /arm64: libc6 is no version, architecture/ })
  }
})

test('changes name packages that came, went, or have another version or content', t => {
  const next = lockOf(ASKED, {
    ...RESOLVED,
    root: [one('systemd', '258-1'), one('libc6'), one('rauc')],
    kernel: [one('libc6')],
  })
  t.deepEqual(lockChanges(lock.arm64, next), ['linux: 1.0-1 → none', 'rauc: none → 1.0-1', 'systemd: 257.13-1~deb13u1 → 258-1'])
  t.deepEqual(lockChanges(next, next), [])
})

test("apt's answer is read with its epochs, and a line without a hash is refused", t => {
  const hash = 'b'.repeat(64)
  const text = [
    `'http://archive.example/pool/main/d/dmsetup_1.02.205-2_arm64.deb' dmsetup_2%3a1.02.205-2_arm64.deb 77560 SHA256:${hash}`,
    `'http://archive.example/pool/x_1%2b1_all.deb' x_1+1_all.deb 7 SHA256:${hash}`,
  ].join('\n')
  t.deepEqual(readUris(`${text}\n`), [
    { name: 'dmsetup', version: '2:1.02.205-2', arch: 'arm64', sha256: hash },
    { name: 'x', version: '1+1', arch: 'all', sha256: hash },
  ])
  t.throws(() => readUris("'http://archive.example/x_1_all.deb' x_1_all.deb 7 MD5Sum:00"), { message: /no package, version/ })
  t.throws(() => readUris(''), { message: /no package, version/ })
})

test('the committed lock is of what images ask for, and names no host', t => {
  const committed = readLock()
  for (const arch of ARCHITECTURES) {
    const asked = askedPackages(arch, readPackageList())
    for (const set of SETS) {
      const packages = lockedSet(committed, arch, set, asked[set])
      const names = new Set(packages.map(({ name }) => name))
      for (const name of asked[set]) t.true(names.has(name), `${arch} ${set} ${name}`)
      for (const { name, arch: of } of packages) t.true(of === arch || of === 'all', `${name} is for ${of}`)
    }
  }
  t.notRegex(readFileSync('image/packages.lock.yaml', 'utf8'), /:\/\//)
})

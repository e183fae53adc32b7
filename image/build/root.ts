/** The root file system: Debian's files, the configuration that their scripts would have done, and our own files over them. */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { run } from './host-commands.ts'
import type { PackageList } from './package-list.ts'
import { removePatterns } from './packages.ts'
import type { ImageTarget } from './target.ts'

/** Our own files, laid over Debian's. */
const OVERLAY = 'image/root'
/** What runs without being asked for by something else. */
const UNITS = [
  'systemd-networkd.service',
  'systemd-resolved.service',
  'systemd-timesyncd.service',
  'plenum.service',
  'plenum-prepare.service',
  'plenum-firewall.service',
  'plenum-confirm.service',
  'plenum-label.service',
  'serial-getty@tty1.service',
  'plenum-update.path',
  'plenum-clock.path',
  'plenum-network.path',
  'plenum-network-trial.service',
  'plenum-watch.timer',
  'plenum-certificate.timer',
]
/** They would write to the read-only root, wait for what an appliance does not have, or open parts of the kernel that it does not use. */
const MASKED = [
  'systemd-firstboot.service',
  'systemd-update-done.service',
  'ldconfig.service',
  'systemd-networkd-wait-online.service',
  'getty@.service',
  'console-getty.service',
  'debug-shell.service',
  'systemd-pcrlock-make-policy.service',
  'systemd-hibernate-clear.service',
  'dpkg-db-backup.timer',
  'e2scrub_all.timer',
  'e2scrub_reap.service',
  'fstrim.timer',
  'dev-hugepages.mount',
  'dev-mqueue.mount',
  'proc-sys-fs-binfmt_misc.automount',
  'sys-fs-fuse-connections.mount',
  'sys-kernel-config.mount',
  'sys-kernel-debug.mount',
  'sys-kernel-tracing.mount',
]
/** Tools of the scripts on the box, of busybox. */
const APPLETS = [
  'sh',
  'cat',
  'cp',
  'grep',
  'mkdir',
  'mv',
  'rm',
  'sed',
  'sleep',
  'stat',
  'sync',
  'tail',
  'wget',
  'chmod',
  'chown',
  'ls',
  'date',
  'poweroff',
  'dd',
]
const MODULE_FOLDER = 'usr/lib/modules'

/** `seconds`: Unix time at which everything is said to be made. */
type RootSources = { root: string; kernel: string; list: PackageList; target: ImageTarget; seconds: number }

/** @returns the kernel's release, for example `6.12.117+deb13-arm64` */
export function kernelRelease(kernel: string): string {
  const releases = readdirSync(join(kernel, MODULE_FOLDER))
  if (releases.length !== 1) throw new Error(`${kernel}: ${releases.length} kernels; one was awaited`)
  return releases[0]!
}

/** Turns unpacked packages into a root that boots. */
export function configureRoot(sources: RootSources): void {
  const { root, kernel, list, seconds } = sources
  removePatterns(root, list.remove)
  addUsers(root, seconds)
  addTools(root)
  addModules(sources)
  for (const [, files] of Object.entries(list.files)) for (const file of files) copyInto(root, kernel, file)
  addOverlay(root)
  for (const folder of ['boot/efi', 'mnt/rauc', 'opt/plenum', 'var', 'proc', 'sys', 'dev', 'run', 'tmp']) {
    mkdirSync(join(root, folder), { recursive: true })
  }
  enableUnits(root)
}

/** Users of Debian's base, of its packages and ours; nobody has a password or a shell. */
function addUsers(root: string, seconds: number): void {
  const base = join(root, 'usr/share/base-passwd')
  copyFileSync(join(base, 'passwd.master'), join(root, 'etc/passwd'))
  copyFileSync(join(base, 'group.master'), join(root, 'etc/group'))
  cpSync(join(OVERLAY, 'usr/lib/sysusers.d'), join(root, 'usr/lib/sysusers.d'), { recursive: true })
  const folder = join(root, 'usr/lib/sysusers.d')
  // The build machine's systemd may be older and not know `u!`.
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/^u! /gm, 'u '))
  }
  // Each user has the day of its making.
  run('systemd-sysusers', [`--root=${root}`], { env: { SOURCE_DATE_EPOCH: String(seconds) } })
  const passwd = join(root, 'etc/passwd')
  writeFileSync(passwd, readFileSync(passwd, 'utf8').replaceAll(/:[^:\n]*$/gm, ':/usr/sbin/nologin'))
  for (const backup of ['passwd-', 'group-', 'shadow-', 'gshadow-', '.pwd.lock'])
    rmSync(join(root, 'etc', backup), { force: true })
}

function addTools(root: string): void {
  const busybox = join(root, 'usr/bin/busybox')
  if (!existsSync(busybox)) throw new Error(`${busybox} is missing`)
  for (const applet of APPLETS) {
    const link = join(root, 'usr/bin', applet)
    rmSync(link, { force: true })
    symlinkSync('busybox', link)
  }
}

/** Modules that a plant room may need, and the index of them. */
function addModules({ root, kernel, list }: RootSources): void {
  const release = kernelRelease(kernel)
  const into = join(root, MODULE_FOLDER, release)
  cpSync(join(kernel, MODULE_FOLDER, release), into, { recursive: true })
  removePatterns(join(into, 'kernel'), list.removeModules)
  run('depmod', ['-b', join(root, 'usr'), release])
}

/** The rights of a checkout depend on who made it: here everybody reads, root writes, and programs stay programs. */
function addOverlay(root: string): void {
  cpSync(OVERLAY, root, { recursive: true })
  const paths = 'cd "$1" && find . -mindepth 1 -print0 | (cd "$2" && xargs -0 chmod u=rwX,go=rX)'
  run('bash', ['-c', paths, 'bash', OVERLAY, root])
  // The service of names writes there what it has learned.
  symlinkSync('../run/systemd/resolve/stub-resolv.conf', join(root, 'etc/resolv.conf'))
}

function copyInto(root: string, from: string, file: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  copyFileSync(join(from, file), join(root, file))
}

function enableUnits(root: string): void {
  const system = join(root, 'etc/systemd/system')
  for (const name of readdirSync(system)) if (name.endsWith('.wants')) rmSync(join(system, name), { recursive: true })
  for (const unit of MASKED) {
    rmSync(join(system, unit), { force: true })
    symlinkSync('/dev/null', join(system, unit))
  }
  run('systemctl', [`--root=${root}`, 'enable', ...UNITS])
  run('systemctl', [`--root=${root}`, 'set-default', 'multi-user.target'])
}

/** Moves the application, built elsewhere, to its place. */
export function addApplication(root: string, application: string): void {
  const place = join(root, 'opt/plenum')
  rmSync(place, { recursive: true, force: true })
  renameSync(application, place)
  run('chmod', ['-R', 'u=rwX,go=rX', place])
}

const ELF = Buffer.from([0x7f, 0x45, 0x4c, 0x46])

/**
 * @param application folder of the product, where it is not in its place yet
 * @param files of the root beside the product's, which were taken out of packages without what these depend on
 * @throws Error that names each program that needs a library which the root does not have
 */
export function checkLibraries(
  root: string,
  files: readonly string[],
  { triplet }: ImageTarget,
  application = join(root, 'opt/plenum'),
): void {
  const there = new Set([...readdirSync(join(root, 'usr/lib', triplet)), ...readdirSync(join(root, 'usr/lib'))])
  const product = readdirSync(application, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter(path => /\/node$|\.node$|\.so(?:\.\d+)*$/.test(path))
  const missing = [...product, ...files.map(file => join(root, file))].flatMap(path => {
    if (!readFileSync(path).subarray(0, ELF.length).equals(ELF)) return []
    const own = new Set(readdirSync(dirname(path)))
    const needed = [...run('readelf', ['-d', path]).matchAll(/\(NEEDED\).*\[(.+)\]/g)].map(([, library]) => library!)
    return needed.filter(library => !there.has(library) && !own.has(library)).map(library => `${path} needs ${library}`)
  })
  if (missing.length > 0) throw new Error(`the image lacks libraries: ${missing.join('; ')}`)
}

/** What starts the root: kernel and initial file system of a slot, and GRUB, which chooses the slot. */
import { copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { emptyFolder, run } from './host-commands.ts'
import { copyLibraries } from './libraries.ts'
import { kernelRelease } from './root.ts'
import type { ImageTarget } from './target.ts'

/** Modules for the disks of the emulator and of usual boards, and for what lies on them. Their dependencies come along. */
const MODULES = [
  'virtio_blk',
  'virtio_mmio',
  'virtio_scsi',
  'nvme',
  'ahci',
  'sd_mod',
  'usb_storage',
  'uas',
  'xhci_pci',
  'sdhci_pci',
  'sdhci_acpi',
  'sdhci_iproc',
  'dw_mmc_rockchip',
  'squashfs',
  'dm_mod',
  'dm_verity',
]
const BLOCK = 4096
const SALT = '0'.repeat(64)
const MIB = 2 ** 20
const ESP_MIB = 64

/** The same files make the same bytes. */
const squashed = (seconds: number): string[] => [
  ...['-noappend', '-quiet', '-no-progress', '-no-xattrs'],
  ...['-mkfs-time', String(seconds), '-all-time', String(seconds)],
]

/** Root of a slot with its hash tree behind it. */
type VerifiedRoot = { file: string; hash: string; salt: string; blocks: number }

/**
 * Packs a root into a file whose every block is checked against a hash when it is read.
 *
 * @param seconds Unix time of every file in it
 */
export function packRoot(root: string, file: string, seconds: number): VerifiedRoot {
  run('mksquashfs', [root, file, ...squashed(seconds), '-comp', 'zstd', '-Xcompression-level', '15', '-b', '256K'])
  const blocks = statSync(file).size / BLOCK
  if (!Number.isInteger(blocks)) throw new Error(`${file} ends within a block`)
  const report = run('veritysetup', [
    'format',
    file,
    file,
    `--hash-offset=${blocks * BLOCK}`,
    `--data-blocks=${blocks}`,
    `--salt=${SALT}`,
    '--uuid=00000000-0000-0000-0000-000000000000',
  ])
  const hash = /^Root hash:\s+([\da-f]{64})$/m.exec(report)?.[1]
  if (hash === undefined) throw new Error(`veritysetup named no root hash: ${report}`)
  return { file, hash, salt: SALT, blocks }
}

type BootParts = { root: string; kernel: string; work: string; target: ImageTarget; seconds: number }

/** @returns the file of a kernel partition: kernel, initial file system, and the arguments that name the verified root */
export function packKernel(file: string, verified: VerifiedRoot, { root, kernel, work, target, seconds }: BootParts): string {
  const folder = emptyFolder(join(work, 'kernel-partition'))
  const release = kernelRelease(kernel)
  copyFileSync(join(kernel, 'boot', `vmlinuz-${release}`), join(folder, 'vmlinuz'))
  packInitial(join(folder, 'initrd'), { root, kernel, work, target, seconds })
  const words = [
    `console=tty0 console=${target.console}`,
    'quiet loglevel=4 net.ifnames=0 systemd.gpt_auto=0 systemd.show_status=1 panic=10 lockdown=integrity',
    `plenum.root_hash=${verified.hash} plenum.root_salt=${verified.salt} plenum.root_blocks=${verified.blocks}`,
  ]
  writeFileSync(join(folder, 'boot.cfg'), `set arguments="${words.join(' ')}"\n`)
  // GRUB reads SquashFS; uncompressed blocks need nothing more of it, and kernel and initial files are compressed already.
  run('mksquashfs', [folder, file, ...squashed(seconds), '-all-root', '-noI', '-noD', '-noF', '-noX'])
  return file
}

/** The initial file system: busybox, dmsetup with its libraries, the modules and `image/boot/init`. */
function packInitial(file: string, { root, kernel, work, target, seconds }: BootParts): void {
  const folder = emptyFolder(join(work, 'initial'))
  for (const name of ['bin', 'dev', 'proc', 'sys', 'root', 'modules', `usr/lib/${target.triplet}`])
    mkdirSync(join(folder, name), { recursive: true })
  copyFileSync('image/boot/init', join(folder, 'init'))
  copyFileSync(join(root, 'usr/bin/busybox'), join(folder, 'bin/busybox'))
  copyFileSync(join(root, 'usr/sbin/dmsetup'), join(folder, 'bin/dmsetup'))
  copyLibraries(folder, 'bin/dmsetup', { root, target })
  const order = addModules(folder, kernel)
  writeFileSync(join(folder, 'modules/order'), `${order.join('\n')}\n`)
  run('chmod', ['-R', 'u=rwX,go=rX', folder])
  run('chmod', ['755', join(folder, 'init'), join(folder, 'bin/busybox'), join(folder, 'bin/dmsetup')])
  run('bash', [
    '-c',
    'cd "$1" && find . -exec touch -h -d "@$3" {} + && find . -print0 | LC_ALL=C sort -z | cpio --null --create --format=newc --quiet --reproducible --owner=0:0 | gzip -9n > "$2"',
    'bash',
    folder,
    file,
    String(seconds),
  ])
}

/** @returns the names of the modules, each after those that it needs */
function addModules(folder: string, kernel: string): string[] {
  const release = kernelRelease(kernel)
  run('depmod', ['-b', join(kernel, 'usr'), release])
  const order: string[] = []
  for (const module of MODULES) {
    const listed = run('bash', [
      '-c',
      'modprobe -d "$1" -S "$2" --show-depends "$3" 2>/dev/null || true',
      'bash',
      join(kernel, 'usr'),
      release,
      module,
    ])
    for (const [, path] of listed.matchAll(/^insmod (\S+)/gm)) {
      const name = basename(path!, '.xz')
      if (order.includes(name)) continue
      order.push(name)
      writeFileSync(join(folder, 'modules', name), '')
      run('bash', ['-c', 'xz -dc "$1" > "$2"', 'bash', path!, join(folder, 'modules', name)])
    }
  }
  if (!order.some(name => name.startsWith('dm-verity'))) throw new Error(`${release} has no dm-verity module`)
  return order
}

/** @returns the file of the partition that firmware starts from */
export function packEsp(file: string, { kernel, work, target, seconds }: BootParts): string {
  const folder = emptyFolder(join(work, 'esp'))
  for (const name of ['EFI/BOOT', 'EFI/debian']) mkdirSync(join(folder, name), { recursive: true })
  copyFileSync(join(kernel, target.grub), join(folder, 'EFI/BOOT', target.removable))
  copyFileSync('image/boot/grub.cfg', join(folder, 'EFI/debian/grub.cfg'))
  run('grub-editenv', [join(folder, 'grubenv'), 'create'])
  run('grub-editenv', [join(folder, 'grubenv'), 'set', 'environment=1', 'ORDER=A B', 'A_OK=1', 'A_TRY=0', 'B_OK=0', 'B_TRY=0'])
  writeFileSync(file, '')
  run('truncate', ['-s', String(ESP_MIB * MIB), file])
  run('mkfs.vfat', ['-i', '504c454e', '-n', 'PLENUMBOOT', '--invariant', file])
  run('mcopy', ['-s', '-i', file, join(folder, 'EFI'), join(folder, 'grubenv'), '::/'], {
    env: { SOURCE_DATE_EPOCH: String(seconds) },
  })
  return file
}

/** @returns size of a file in MiB, rounded up */
export const mib = (file: string): number => Math.ceil(statSync(file).size / MIB)

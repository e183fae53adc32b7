/** A file system of its own in a file: the kernel counts every byte that is written to it, its journal included. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

type CountedDisk = {
  path: string
  /** Bytes written since the file system was made. */
  written(): number
  close(): void
}

const SIZE = '8G'
/** How the box mounts its data, without what only systemd reads. */
const OPTIONS = readFileSync('image/root/etc/fstab', 'utf8')
  .match(/ \/var ext4 (\S+)/)![1]!
  .split(',')
  .filter(option => !option.startsWith('x-'))

/** @throws Error where the user may not mount: the benchmark runs as root */
export function openDisk(folder: string, name: string): CountedDisk {
  const [file, path] = [join(folder, `${name}.ext4`), join(folder, name)]
  mkdirSync(path)
  execFileSync('truncate', ['-s', SIZE, file])
  // As on the box; without the tables that the kernel would go on writing in the background.
  execFileSync('mkfs.ext4', ['-q', '-E', 'lazy_itable_init=0,lazy_journal_init=0', file])
  execFileSync('mount', ['-o', ['loop', ...OPTIONS].join(','), file, path])
  const source = execFileSync('findmnt', ['-n', '-o', 'SOURCE', path], { encoding: 'utf8' }).trim()
  return {
    path,
    written() {
      execFileSync('sync', ['-f', path])
      return Number(readFileSync(`/sys/fs/ext4/${basename(source)}/lifetime_write_kbytes`, 'utf8')) * 1024
    },
    close: () => void execFileSync('umount', [path]),
  }
}

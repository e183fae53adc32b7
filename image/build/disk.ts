/** The disk of an appliance: firmware's partition, two slots of kernel and root, and the data, which grows at the first boot. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { emptyFolder, run } from './host-commands.ts'
import { mib } from './boot.ts'

/** A root may grow in later versions; its partition cannot. */
const KERNEL_MIB = 96
const ROOT_MIB = 384
const DATA_MIB = 256
const MIB = 2 ** 20
const SECTOR = 512
const DISK_ID = '504c454e-554d-4000-8000-000000000000'
/** In the order of their numbers. */
const PARTITIONS = ['esp', 'kernel-a', 'kernel-b', 'root-a', 'root-b', 'data'] as const
type PartitionName = (typeof PARTITIONS)[number]
/** Types of the Discoverable Partitions Specification; systemd-repart finds the data by its own. */
const TYPES = { esp: 'ef00', linux: '8300', data: '4d21b016-b534-45c2-a9fb-5c16e091fd2d' } as const

type Partition = { name: PartitionName; type: keyof typeof TYPES; mib: number; file?: string }
type DiskParts = { esp: string; kernel: string; root: string; work: string; seconds: number }

/** Files of the root that name partitions. */
export const PARTITION_FILES = ['etc/fstab', 'etc/rauc/system.conf'] as const
const numberOf = (name: PartitionName): number => PARTITIONS.indexOf(name) + 1
const idOf = (name: PartitionName): string => `${DISK_ID.slice(0, -1)}${numberOf(name)}`

/**
 * Puts the identity of a partition in place of its name, as in `@data@`. A box finds its partitions by that: a USB stick may have one
 * of any name.
 *
 * @throws Error for a name that no partition has
 */
export const withPartitionIds = (text: string): string =>
  text.replaceAll(/@([a-z-]+)@/g, (_, name: string) => {
    const partition = PARTITIONS.find(one => one === name)
    if (!partition) throw new Error(`there is no partition ${name}`)
    return idOf(partition)
  })

/** @returns the file of the disk, sparse */
export function packDisk(file: string, { esp, kernel, root, work, seconds }: DiskParts): string {
  const partitions: Partition[] = [
    { name: 'esp', type: 'esp', mib: mib(esp), file: esp },
    { name: 'kernel-a', type: 'linux', mib: KERNEL_MIB, file: kernel },
    { name: 'kernel-b', type: 'linux', mib: KERNEL_MIB },
    { name: 'root-a', type: 'linux', mib: ROOT_MIB, file: root },
    { name: 'root-b', type: 'linux', mib: ROOT_MIB },
    { name: 'data', type: 'data', mib: DATA_MIB, file: packData(join(work, 'data.ext4'), work, seconds) },
  ]
  for (const { name, mib: size, file: content } of partitions) {
    if (content !== undefined && mib(content) > size) throw new Error(`${name} needs ${mib(content)} MiB and has ${size}`)
  }
  const total = partitions.reduce((sum, { mib: size }) => sum + size, 0)
  run('rm', ['-f', file])
  run('truncate', ['-s', String((total + 2) * MIB), file])
  const numbered = partitions.map(partition => ({ ...partition, number: numberOf(partition.name) }))
  run('sgdisk', [
    '--clear',
    `--disk-guid=${DISK_ID}`,
    ...numbered.flatMap(({ number, name, type, mib: size }) => [
      `--new=${number}:0:+${size}M`,
      `--typecode=${number}:${TYPES[type]}`,
      `--change-name=${number}:${name}`,
      `--partition-guid=${number}:${idOf(name)}`,
    ]),
    file,
  ])
  for (const { number, file: content } of numbered) if (content !== undefined) write(content, file, number)
  return file
}

/** @returns the data partition: empty, and as large as it must be for a first boot */
function packData(file: string, work: string, seconds: number): string {
  const folder = emptyFolder(join(work, 'data'))
  run('rm', ['-f', file])
  run('truncate', ['-s', String(DATA_MIB * MIB), file])
  const fixed = ['-U', DISK_ID, '-E', `hash_seed=${DISK_ID},root_owner=0:0,lazy_itable_init=0,lazy_journal_init=0`]
  run('mkfs.ext4', ['-q', '-F', '-L', 'data', ...fixed, '-d', folder, file], { env: { E2FSPROGS_FAKE_TIME: String(seconds) } })
  return file
}

function write(content: string, disk: string, number: number): void {
  const first = /First sector: (\d+)/.exec(run('sgdisk', [`--info=${number}`, disk]))?.[1]
  if (first === undefined) throw new Error(`${disk} has no partition ${number}`)
  const whole = statSync(content).size % MIB === 0
  const blocks = whole ? ['bs=1M', `seek=${(Number(first) * SECTOR) / MIB}`] : [`bs=${SECTOR}`, `seek=${first}`]
  run('dd', [`if=${content}`, `of=${disk}`, ...blocks, 'conv=notrunc,sparse', 'status=none'])
}

/** What differs between the processors that an image can be built for. */
export const ARCHITECTURES = ['arm64', 'amd64'] as const
export type Architecture = (typeof ARCHITECTURES)[number]

export type ImageTarget = {
  arch: Architecture
  /** As Node's packages call it. */
  node: 'arm64' | 'x64'
  kernel: string
  /** Packages with GRUB and the loader before it, signed by Debian. */
  loaders: string[]
  /** Path of GRUB in its package, and the name under which firmware starts it from a disk without a boot entry. */
  grub: string
  removable: string
  /** Where Debian has the libraries. */
  triplet: string
  /** Serial console of the emulator and of usual boards. */
  console: string
}

export const TARGETS: Readonly<{ [A in Architecture]: ImageTarget }> = {
  arm64: {
    arch: 'arm64',
    node: 'arm64',
    kernel: 'linux-image-arm64',
    loaders: ['grub-efi-arm64-signed'],
    grub: 'usr/lib/grub/arm64-efi-signed/grubaa64.efi.signed',
    removable: 'BOOTAA64.EFI',
    triplet: 'aarch64-linux-gnu',
    console: 'ttyAMA0',
  },
  amd64: {
    arch: 'amd64',
    node: 'x64',
    kernel: 'linux-image-amd64',
    loaders: ['grub-efi-amd64-signed'],
    grub: 'usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed',
    removable: 'BOOTX64.EFI',
    triplet: 'x86_64-linux-gnu',
    console: 'ttyS0',
  },
}

/** For a program that runs on this machine. */
export const targetHere = (): ImageTarget => TARGETS[process.arch === 'arm64' ? 'arm64' : 'amd64']

/** GRUB's choice of a slot over many starts: its file is run by a shell, whose language differs in how a variable is set. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { folder } from '../support/folders.ts'

/**
 * Commands of GRUB: the variables of a slot are lines of a file, and a start is the line that names the slot. GRUB was started from the
 * second disk: the first is a USB stick.
 */
const COMMANDS = `
load_env() { [ ! -s "$2" ] || . "./$2"; }
save_env() { file=$2; shift 2; for name; do eval "echo $name=\\"'\\$$name'\\""; done > "$file"; }
source() { arguments=quiet; }
linux() { for word; do case $word in rauc.slot=*) echo "\${word#*=}" ;; esac; done; }
initrd() { :; }
boot() { :; }
regexp() { eval "\${1#--set=1:}=$(echo "$3" | sed -nE "s/$2.*/\\1/p")"; }
prefix='(hd1,gpt1)/EFI/debian'
`
const SCRIPT = readFileSync('image/boot/grub.cfg', 'utf8')
  .replaceAll(/(^|[\s;])set (\w+=)/gm, '$1$2')
  .replaceAll('($disk,gpt1)/', '$disk/')
  .replaceAll('($disk,gpt$kernel)', 'kernel-$kernel')

/** @param variables of `grubenv` at the beginning */
function openGrub(t: ExecutionContext, variables: Record<string, string>) {
  const at = folder(t)
  writeFileSync(join(at, 'script'), COMMANDS + SCRIPT)
  mkdirSync(join(at, 'hd1'))
  const file = join(at, 'hd1', 'grubenv')
  const set = (changes: Record<string, string>) => {
    const all = { ...read(), ...changes }
    writeFileSync(
      file,
      Object.entries(all)
        .map(([name, value]) => `${name}='${value}'\n`)
        .join(''),
    )
  }
  const read = (): Record<string, string> =>
    Object.fromEntries([...readFileSync(file, 'utf8').matchAll(/^(\w+)='(.*)'$/gm)].map(([, name, value]) => [name!, value!]))
  writeFileSync(file, '')
  set({ environment: '1', ...variables })
  return {
    read,
    /** As RAUC and the confirming service do it. */
    confirm: (slot: string) => set({ [`${slot}_OK`]: '1', [`${slot}_TRY`]: '0', ROUND: '0' }),
    /** @returns the slots of so many starts in a row */
    starts: (count: number) =>
      Array.from({ length: count }, () => execFileSync('sh', ['script'], { cwd: at, encoding: 'utf8' }).trim()).join(''),
  }
}

const BOTH = { ORDER: 'B A', A_OK: '1', A_TRY: '0', B_OK: '1', B_TRY: '0' }

test('the first slot is started until it was not confirmed three times, then the other, and a confirmed one again and again', t => {
  const grub = openGrub(t, BOTH)
  t.is(grub.starts(4), 'BBBA')
  grub.confirm('A')
  for (let n = 0; n < 9; n++) {
    t.is(grub.starts(2), 'AA')
    grub.confirm('A')
  }
})

test('where both work and neither is confirmed, each gets its starts in every round', t => {
  t.is(openGrub(t, BOTH).starts(18), 'BBBAAABBBAAABBBAAA')
})

test('a slot that was left gets a start only after four rounds without a confirmed one, and then once in a while', t => {
  const grub = openGrub(t, { ...BOTH, A_OK: '0' })
  for (let n = 0; n < 3; n++) t.is(grub.starts(13), `${'B'.repeat(12)}A`)
  const cut = openGrub(t, { ...BOTH, A_OK: '0' })
  for (let n = 0; n < 9; n++) {
    t.is(cut.starts(8), 'B'.repeat(8), 'power cuts in a row')
    cut.confirm('B')
  }
})

test('where both were left, each is tried', t => {
  const starts = openGrub(t, { ...BOTH, A_OK: '0', B_OK: '0' }).starts(8)
  t.true(starts.includes('A') && starts.includes('B'), starts)
})

test('what the box writes for itself is kept over a start', t => {
  const grub = openGrub(t, { ...BOTH, machine_id: '0123' })
  grub.starts(1)
  t.like(grub.read(), { machine_id: '0123', ORDER: 'B A', B_TRY: '1', ROUND: '0' })
})

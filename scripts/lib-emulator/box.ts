/** A box in QEMU: the built disk image, its console, and its page by HTTPS. The power can be cut at any moment. */
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, openAsBlob, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import { stripVTControlCharacters } from 'node:util'
import { freePort } from '../lib/free-port.ts'
import { openWire, type Wire } from './wire.ts'

const FIRMWARE = '/usr/share/AAVMF'
/** As of a small eMMC, in MiB: the data partition has to grow into it. */
const DISK_MIB = 4096
const MEMORY_MIB = 1024
/**
 * While it computes, the box's time follows its instructions (4 ns each) and not the clock of this machine, so a busy machine does not
 * make its units late. While it waits, time passes as here.
 */
const ICOUNT = 'shift=2,sleep=on,align=off'
/** Bounds of what never comes: a boot takes 60 to 90 s on a quiet machine, and twenty times as long on a busy one. */
const BOOT_MS = 3_600_000
const ANSWER_MS = 600_000
/** For a handshake: an answer comes in one or two seconds. */
const TLS_MS = 20_000
const UPLOAD_MS = 3_600_000

/** What the networks of the box call the machine that the emulator runs on, which is also the gateway of the uplink. */
export const [UPLINK_HOST, FIELD_HOST] = ['10.0.8.2', '10.0.9.2'] as const

type UpdateReply = {
  version: string
  last: { state: string; version: string; reason: string; slot: string; log?: string[] } | null
}

type Network = 'uplink' | 'field'

export class Box {
  readonly disk: string
  readonly #folder: string
  #port = 0
  #child: ChildProcessByStdio<Writable, Readable, null> | undefined
  #console = ''
  /** What it said remains when a test fails. */
  readonly #log: string
  /** Where the present start begins in the console's text. */
  #begun = 0
  #token = ''
  #password = ''
  #wires: Record<Network, Wire> | undefined
  /** How many are plugged in. */
  #sticks = 0
  readonly #processor: string[]

  /**
   * @param folder in which disk and firmware's variables are kept
   * @param image built disk image
   * @param log file for what the console says
   * @param isCounted with one core, whose instructions are counted
   */
  constructor(folder: string, image: string, log: string, isCounted = false) {
    this.#folder = folder
    this.#log = log
    this.#processor = isCounted ? ['-icount', `${ICOUNT},rr=record,rrfile=/dev/null`] : ['-smp', '2', '-icount', ICOUNT]
    writeFileSync(log, '')
    this.disk = join(folder, 'disk.img')
    execFileSync('cp', ['--sparse=always', image, this.disk])
    execFileSync('truncate', ['-s', `${DISK_MIB}M`, this.disk])
    execFileSync('cp', [join(FIRMWARE, 'AAVMF_VARS.fd'), join(folder, 'vars.fd')])
  }

  /** The console since the last start. */
  get console(): string {
    return this.#console.slice(this.#begun)
  }

  get #monitor(): string {
    return join(this.#folder, 'monitor')
  }

  get url(): string {
    return `https://localhost:${this.#port}`
  }

  /** Puts another machine on each of the networks, before the first start. */
  async openWires(): Promise<Record<Network, Wire>> {
    this.#wires = { uplink: await openWire(), field: await openWire() }
    return this.#wires
  }

  /** @param rtc what a clock without a battery says; without it, it is right */
  async start(rtc?: string): Promise<void> {
    this.#port ||= await freePort()
    this.#begun = this.#console.length
    const pflash = (name: string, more: string) => ['-drive', `if=pflash,format=raw,${more}file=${name}`]
    const network = (id: Network, settings: string) => {
      const user = ['-netdev', `user,id=${id},${settings}`]
      const card = (netdev: string) => ['-device', `virtio-net-pci,netdev=${netdev},romfile=`]
      const wire = this.#wires?.[id]
      if (!wire) return [...user, ...card(id)]
      const port = (name: string, to = '') => ['-netdev', `hubport,id=${id}-${name},hubid=${id === 'uplink' ? 1 : 2}${to}`]
      const joined = [...port('gateway', `,netdev=${id}`), ...port('machine', `,netdev=${id}-wire`), ...port('box')]
      return [...user, '-netdev', wire.netdev(`${id}-wire`), ...joined, ...card(`${id}-box`)]
    }
    const child = spawn(
      'qemu-system-aarch64',
      [
        ...[
          '-M',
          'virt',
          '-cpu',
          'cortex-a72',
          ...this.#processor,
          '-m',
          String(MEMORY_MIB),
          '-display',
          'none',
          '-monitor',
          `unix:${this.#monitor},server=on,wait=off`,
          ...(rtc === undefined ? [] : ['-rtc', `base=${rtc}`]),
        ],
        ...['-device', 'qemu-xhci,id=usb'],
        ...pflash(join(FIRMWARE, 'AAVMF_CODE.fd'), 'readonly=on,'),
        ...pflash(join(this.#folder, 'vars.fd'), ''),
        // Each write is on the disk when the box is told so, and a cut loses what it was not told.
        ...['-drive', `if=none,id=disk,format=raw,cache=writethrough,file=${this.disk}`, '-device', 'virtio-blk-pci,drive=disk'],
        ...network('uplink', `net=10.0.8.0/24,hostfwd=tcp:127.0.0.1:${this.#port}-:443`),
        ...network('field', 'net=10.0.9.0/24'),
        ...['-device', 'virtio-rng-pci', '-serial', 'stdio'],
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    )
    child.stdin.on('error', () => undefined) // The power was cut.
    let held = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const whole = held + text
      // A control sequence ends with a letter, which may come with what is said next.
      const begun = whole.lastIndexOf('\u001b')
      const end = begun < 0 || /[A-Za-z]/.test(whole.slice(begun)) ? whole.length : begun
      held = whole.slice(end)
      const plain = stripVTControlCharacters(whole.slice(0, end)).replaceAll('\r', '')
      this.#console += plain
      appendFileSync(this.#log, plain)
    })
    this.#child = child
  }

  /**
   * Plugs in a USB stick.
   *
   * @param image of its file system, which the box may write
   */
  async plugIn(image: string): Promise<void> {
    const drive = `drive-${++this.#sticks}`
    await this.#order(`drive_add 0 if=none,id=${drive},format=raw,file=${image}`)
    await this.#order(`device_add usb-storage,drive=${drive},bus=usb.0`)
  }

  /** @returns how many instructions it has run since it was switched on; of a box that is counted */
  async instructions(): Promise<number> {
    const said = await this.#order('info replay')
    const [, count] = /instruction count = (\d+)/.exec(said) ?? []
    if (count === undefined) throw new Error(`the emulator counts no instructions: ${said}`)
    return Number(count)
  }

  /** Stops the box between two instructions, with all that it was told is written on its disk, and has it go on after `work`. */
  async atMoment(work: () => void | Promise<void>): Promise<void> {
    await this.#order('stop')
    await work()
    await this.#order('cont')
  }

  /** Has the emulator carry out one line of its monitor. @returns what it says */
  async #order(line: string): Promise<string> {
    const monitor = connect(this.#monitor)
    let said = ''
    monitor.setEncoding('utf8').on('data', (text: string) => (said += text))
    await once(monitor, 'connect')
    monitor.write(`${line}\n`)
    // It prompts when it begins and when the line is done.
    while (said.split('(qemu) ').length < 3) await once(monitor, 'data')
    monitor.destroy()
    return said
  }

  /** Writes a line of the test's own among what the console said. */
  note(text: string): void {
    appendFileSync(this.#log, `\n--- ${new Date().toISOString()} ${text}\n`)
  }

  /** Cuts the power. */
  async cut(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (!child || child.exitCode !== null) return
    const ended = new Promise(resolve => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  /** @returns what the pattern found on the console since the last start */
  async says(pattern: RegExp, withinMs = BOOT_MS): Promise<RegExpExecArray> {
    for (const end = Date.now() + withinMs; Date.now() < end; await sleep(500)) {
      const found = pattern.exec(this.console)
      if (found) return found
      if (this.#child?.exitCode !== null && this.#child?.exitCode !== undefined) throw new Error('the emulator ended by itself')
    }
    throw new Error(`the console does not say ${pattern} within ${withinMs / 1000} s; its end: ${this.console.slice(-1000)}`)
  }

  /** Types a line on the console. */
  type(line: string): void {
    this.#child?.stdin.write(`${line}\r`)
  }

  /** Forgets what the console said, so that the next `says` waits for what comes. */
  forgetConsole(): void {
    this.#begun = this.#console.length
  }

  /**
   * Trusts the page's certificate when it is the one whose fingerprint the console shows, and signs in with the console's password.
   *
   * @throws Error when the certificate is another one
   */
  async signIn(): Promise<void> {
    const [, fingerprint] = await this.says(/certificate SHA-256 ([\dA-F:]{95})/)
    if (this.#password === '') [, this.#password = ''] = await this.says(/sign in as admin with (\S+)/)
    await this.healthy()
    const peer = await this.#peer(this.#port)
    if (peer.fingerprint256 !== fingerprint)
      throw new Error(`the page has ${peer.fingerprint256}, the console says ${fingerprint}`)
    const pem = `-----BEGIN CERTIFICATE-----\n${peer.issuerCertificate.raw.toString('base64')}\n-----END CERTIFICATE-----\n`
    tls.setDefaultCACertificates([pem])
    const body = JSON.stringify({ username: 'admin', password: this.#password })
    const { token } = await this.#fetch<{ token: string }>('/api/auth/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    this.#token = token
  }

  /** The name that the console shows, which begins with `plenum-`. */
  async name(): Promise<string> {
    return (await this.says(/https:\/\/(plenum-[a-z2-9]{4})\.local/))[1]!
  }

  get password(): string {
    return this.#password
  }

  /** It was erased: its next start shows another password. */
  forgetPassword(): void {
    this.#password = ''
  }

  /** What its clock says, ms since 1970 UTC. */
  async clock(): Promise<number> {
    const answer = await fetch(`${this.url}/login`, { signal: AbortSignal.timeout(ANSWER_MS) })
    await answer.arrayBuffer()
    return Date.parse(answer.headers.get('date')!)
  }

  /** Waits until the page answers TLS; which certificate it has is not looked at. */
  async healthy(withinMs = BOOT_MS): Promise<void> {
    for (const end = Date.now() + withinMs; Date.now() < end; await sleep(1000)) {
      if (await this.#answers(this.#port)) return
    }
    throw new Error(`no page within ${withinMs / 1000} s; the console: ${this.console.slice(-2000)}`)
  }

  /** @returns whether the page answers TLS on one of the networks of the box */
  async answersOn(network: 'uplink' | 'field'): Promise<boolean> {
    const port = await freePort()
    await this.#order(`hostfwd_add ${network} tcp:127.0.0.1:${port}-:443`)
    return this.#answers(port)
  }

  #answers(port: number): Promise<boolean> {
    return this.#peer(port).then(
      () => true,
      () => false,
    )
  }

  #peer(port: number): Promise<tls.DetailedPeerCertificate> {
    return new Promise((resolve, reject) => {
      const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, timeout: TLS_MS })
      socket.once('secureConnect', () => {
        resolve(socket.getPeerCertificate(true))
        socket.destroy()
      })
      socket.once('error', reject).once('timeout', () => socket.destroy(new Error('no answer')))
    })
  }

  async #fetch<T>(path: string, init: RequestInit, withinMs = ANSWER_MS): Promise<T> {
    const answer = await fetch(this.url + path, { ...init, signal: AbortSignal.timeout(withinMs) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path} answers ${answer.status}: ${text.slice(0, 400)}`)
    return JSON.parse(text) as T
  }

  get<T>(path: string): Promise<T> {
    return this.#fetch<T>(path, { headers: { authorization: `Bearer ${this.#token}` } })
  }

  put<T>(path: string, value: unknown): Promise<T> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' }
    return this.#fetch<T>(path, { method: 'PUT', headers, body: JSON.stringify(value) })
  }

  post<T>(path: string): Promise<T> {
    return this.#fetch<T>(path, { method: 'POST', headers: { authorization: `Bearer ${this.#token}` } })
  }

  /** Has it poll `sat`, the first analog input of a device at this machine, on the network of the controllers. */
  async poll({ port }: { port: number }, poll_secs: number): Promise<void> {
    const point = { point_id: 'sat', address: 'analog-input,1', name: 'Supply air', unit: 'degC', kind: 'number' }
    await this.put('/api/devices/ahu-1', {
      ...{ device_id: 'ahu-1', name: 'AHU', enabled: true, protocol: 'bacnet', timeout_ms: 4000, retries: 1 },
      bacnet: { device_instance: 1001, host: FIELD_HOST, port, max_apdu: 1476 },
      points: [{ ...point, poll_secs }],
    })
  }

  /** Sends an update; resolves when the box has received it. @param force where it may be older than what runs */
  async send(bundle: string, force = false): Promise<void> {
    const form = new FormData()
    if (force) form.append('force', '1')
    form.append('file', await openAsBlob(bundle), 'update.raucb')
    const headers = { authorization: `Bearer ${this.#token}` }
    await this.#fetch('/api/system/update', { method: 'POST', headers, body: form }, UPLOAD_MS)
  }

  update(): Promise<UpdateReply> {
    return this.get('/api/system/update')
  }
}

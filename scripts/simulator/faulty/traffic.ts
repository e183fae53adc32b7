/** Answers that are right but come late, twice, from elsewhere or not at all, and datagrams that nobody asked for. */
import { datagram, enumerated, objectId, unsigned } from '../bacnet/wire.ts'
import { ackOf, type Exchange, type Misbehaviour, poison } from './exchange.ts'

const bytes = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')
/** Before the right answer comes what `junk` sends. */
const preceded =
  (junk: (exchange: Exchange) => void): Misbehaviour =>
  exchange => {
    junk(exchange)
    exchange.reply(exchange.right)
  }
const always = (...texts: string[]): Misbehaviour => preceded(({ send }) => texts.forEach(text => send(bytes(text))))

/** The answer as it would come through a router. */
function routed(apdu: Buffer, npci: string): Buffer {
  const head = bytes(`810a 0000 ${npci}`)
  head.writeUInt16BE(head.length + apdu.length, 2)
  return Buffer.concat([head, apdu])
}

const TIMING: Record<string, Misbehaviour> = {
  silent: () => undefined,
  /** Each answer comes when the next request does, and is a lie by then. */
  late: ({ asked, kept, reply }) => {
    for (const old of kept.splice(0)) if (old.invokeId !== asked.invokeId) reply(ackOf(old, poison()))
    kept.push(asked)
  },
  /** The first attempt is answered when the second comes. */
  slow: ({ asked, kept, reply, right }) => {
    if (kept.some(({ invokeId }) => invokeId === asked.invokeId)) reply(right)
    else kept.push(asked)
  },
  doubled: ({ reply, right }) => [1, 2].forEach(() => reply(right)),
  doubled_with_a_lie: ({ asked, reply, right }) => [right, ackOf(asked, poison())].forEach(reply),
  loss_of_5_percent: ({ random, reply, right }) => void (random() < 0.05 || reply(right)),
  loss_of_half: ({ random, reply, right }) => void (random() < 0.5 || reply(right)),
  jitter: ({ random, after, reply, right }) => after(80 * random(), () => reply(right)),
  /** Two requests are answered in the wrong order. */
  reordered: ({ after, turn, reply, right }) => after(turn % 2 ? 0 : 30, () => reply(right)),
  /** Every other attempt falls into the reboot, which ends with an I-Am. */
  reboot: ({ turn, send, reply, right }) => {
    if (turn % 2 === 0) return
    send(iAm(77))
    reply(right)
  },
}

const PLACES: Record<string, Misbehaviour> = {
  other_port: ({ replyFrom, right }) => replyFrom('other_port', right),
  wrong_source_address: ({ asked, replyFrom }) => replyFrom('other_address', ackOf(asked, poison())),
  lie_from_elsewhere_first: ({ asked, replyFrom, after, reply, right }) => {
    replyFrom('other_address', ackOf(asked, poison()))
    after(20, () => reply(right))
  },
  as_if_routed: ({ asked, send }) => send(routed(ackOf(asked, poison()), '01 08 0007 01 03')),
  routed_without_address: ({ asked, send }) => send(routed(ackOf(asked, poison()), '01 08 0007 00')),
  routed_from_everywhere: ({ asked, send }) => send(routed(ackOf(asked, poison()), '01 08 ffff 01 03')),
  routed_address_too_long: ({ asked, send }) => send(routed(ackOf(asked, poison()), '01 08 0007 ff')),
  to_another_network: ({ send, right }) => send(routed(right, '01 20 ffff 00 ff')),
  reserved_npci_bits: ({ asked, send }) => send(routed(ackOf(asked, poison()), '01 50')),
  npdu_version_2: ({ asked, send }) => send(routed(ackOf(asked, poison()), '02 00')),
  forwarded_for_a_stranger: ({ asked, send }) => {
    const apdu = ackOf(asked, poison())
    const head = bytes('8104 0000 7f000002 bac0 0100')
    head.writeUInt16BE(head.length + apdu.length, 2)
    send(Buffer.concat([head, apdu]))
  },
}

/** Datagrams that end clients: short SegmentACK, segmented ComplexACK and registration; a truncated Error. */
const KILLERS = ['810a 0009 0100 400800', '810a 0009 0100 3cc800', '8105 000d 0001020304050607ff', '810a 0009 0100 50c814']

const JUNK: Record<string, Misbehaviour> = {
  killers: always(...KILLERS),
  killers_alone: ({ send }) => KILLERS.forEach(text => send(bytes(text))),
  empty_datagram: always(''),
  one_byte: always('81'),
  bvlc_junk: always('810a', '810a0004', '810a0007010000', '820a0009010010080000', '81ff0006 0100', '810affff01001008'),
  bvlc_results: always('8100 0006 0030', '8100 0006 0000', '8100 0006 ffff', '8100 0005 00'),
  bvlc_tables: always('8103 0004', '8107 0004', '810c 0009 0100 100800'),
  network_messages: always('810a 0009 0180 01 0007', '810a 0007 0180 00', '810a 000a 0180 03 01 0007', '810a 0009 0180 ff ffff'),
  confirmed_requests_at_us: always('810a 0011 0104 0005 01 0c 0c00000005 1955', '810a 000d 0104 0005 02 0f 0c000000'),
  who_is_at_us: always('810b 0008 0100 1008', '810b 000c 0120 ffff 00 ff 1008', '810a 000d 0100 1008 0900 1a 03'),
  segment_acks: preceded(({ asked, send }) => {
    for (const kind of [0x40, 0x41, 0x42]) send(datagram(Buffer.of(kind, asked.invokeId, 0, 1)))
  }),
  notifications: always('810a 0010 0100 1002 09 01 1c 02000001 2c', '810a 0008 0100 1002', '810a 0009 0100 1002 ff'),
  large_datagram: preceded(({ send }) => send(Buffer.alloc(20_000, 0x81))),
  noise: preceded(({ random, send }) => {
    for (let i = 0; i < 50; i++) send(Buffer.from(Array.from({ length: 1 + 60 * random() }, () => 256 * random())))
  }),
  storm_of_i_am: preceded(({ send }) => {
    for (let i = 0; i < 500; i++) send(iAm(i))
  }),
  endless_i_am: ({ send, after, reply, right, turn }) => {
    const more = (left: number) => {
      for (let i = 0; i < 20; i++) send(iAm(turn))
      if (left > 0) after(5, () => more(left - 1))
    }
    more(100)
    after(10, () => reply(right))
  },
  broken_i_am: always('810b 0008 0100 1000', '810b 000d 0100 1000 c402000001', '810b 0014 0100 1000 c4020000012205c49103210f'),
  storm_of_lies: preceded(({ asked, reply }) => {
    for (let id = 0; id < 256; id++) if (id !== asked.invokeId) reply(ackOf({ ...asked, invokeId: id }, poison()))
  }),
}

export const FAULTY_TRAFFIC: Record<string, Misbehaviour> = { ...TIMING, ...PLACES, ...JUNK }

function iAm(instance: number): Buffer {
  return datagram(Buffer.concat([Buffer.of(0x10, 0), objectId(8, instance), unsigned(1476), enumerated(3), unsigned(999)]))
}

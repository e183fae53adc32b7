/** Limits of one client, and of all together, at the broker. Beyond one of them the connection ends; the client connects again later. */
import { MESSAGE_MAX, METADATA_MAX, SMALL_MAX, STATUS_MAX } from '#shared/core/telemetry/body.ts'
import type { TopicKind } from '#shared/core/topic/topics.ts'
import { SECOND } from '#shared/core/time.ts'

const MB = 2 ** 20

/** Longest packet that is announced, bytes: the longest metadata. */
export const PACKET_MAX = METADATA_MAX
/** Longest packet that carries no message: CONNECT with its last will, SUBSCRIBE. */
export const CONTROL_MAX = SMALL_MAX
/** Longest body by kind of topic, bytes as they are sent. */
export const BODY_MAX: Record<TopicKind, number> = {
  telemetry: MESSAGE_MAX,
  findings: MESSAGE_MAX,
  metadata: METADATA_MAX,
  status: STATUS_MAX,
  acks: SMALL_MAX,
  requests: MESSAGE_MAX,
  responses: MESSAGE_MAX,
}

/** Open connections of one certificate: its session, the one that takes over from it, and two that are not yet known to be closed. */
export const CONNECTIONS_PER_NAME = 4
/** Five times the edges that one hub is sized for. */
export const CONNECTIONS_MAX = 5_000
/** Handshakes under way, of one network (an IPv4 address, an IPv6 /64) and in all: each holds some 100 kB, and many boxes may stand behind one address. */
export const HANDSHAKES_PER_NETWORK = 128
export const HANDSHAKES_MAX = 512
export const HANDSHAKE_MS = 10 * SECOND
/** Connections that wait for their handshake: a fleet that comes back at once, also from behind one address. Each holds a few kB. */
export const HANDSHAKES_WAITING_PER_NETWORK = CONNECTIONS_MAX
export const HANDSHAKES_WAITING_MAX = 2 * CONNECTIONS_MAX
/** An edge gives up after 15 s and connects again later. */
export const HANDSHAKES_WAITING_MS = 15 * SECOND
/** Longest keep-alive of a session, s; 0, for none, is longer than any. A client that is gone is missed after one and a half of it. */
export const KEEPALIVE_MAX_SECS = 300
/** How long CONNECT may take after the handshake. */
export const CONNECT_MS = 10 * SECOND

/** Bytes of packets that have begun and are not whole: two of the longest for one certificate. */
export const PARTIAL_PER_NAME = 8 * MB
export const PARTIAL_MAX = 64 * MB
/** A packet that has begun is whole after this time and one second more for each so many bytes that it announced. */
export const PACKET_MS = 30 * SECOND
export const SLOWEST_BYTES_PER_SECOND = 4 * 1024
/** Bytes that wait to be handed on: the longest packet of a session, and that of the session before it. */
export const UNDER_WAY_PER_NAME = 8 * MB
export const UNDER_WAY_MAX = 64 * MB

/** Bytes that an edge has not read: a hundred of the longest acknowledgements would be read within a second. */
export const UNREAD_MAX = 2 * MB
/** Filters of one client: a hub has five. */
export const SUBSCRIPTIONS_MAX = 16
/** Retained bytes of all: a hub of a thousand edges with 250 kB of metadata each. What is beyond is passed on, and not retained. */
export const RETAINED_MAX = 256 * MB

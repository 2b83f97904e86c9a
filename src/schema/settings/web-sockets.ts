import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { count, milliseconds } from './settings.ts';

/** Option `webSockets.upstream`. */
export const upstreamSocketSettingsSchema = lazily(() =>
  z.strictObject({
    /**
     * Connections to providers that are kept for one client's connection. When there are more, the one that was not used
     * for the longest time is closed.
     */
    perConnection: count().default(4),
    /** The time that a handshake may take; the request is then sent by HTTP. */
    handshakeMs: milliseconds().default(10_000),
    /** The time after which a connection is closed on which nothing was asked. */
    idleMs: milliseconds().default(300_000),
    /** The time between two pings while nothing is asked. A connection that leaves two without an answer is closed. */
    pingMs: milliseconds().default(25_000),
    /** The age at which a connection is opened anew: providers close one after an hour. */
    lifeMs: milliseconds().default(3_540_000),
  }),
);
export interface UpstreamSocketSettings extends z.infer<ReturnType<typeof upstreamSocketSettingsSchema>> {}

/** Option `webSockets`. */
export const webSocketSettingsSchema = lazily(() =>
  z.strictObject({
    /** Connections that are open at once in this process; more are refused (503). */
    connections: count().default(10_000),
    /** The same of one workspace; more are refused (429). */
    connectionsPerWorkspace: count().default(5_000),
    /** The age at which a connection is closed, once nothing is being made on it. */
    lifeMs: milliseconds().default(3_600_000),
    /** The time between two pings. A connection that leaves two without an answer is closed. */
    pingMs: milliseconds().default(25_000),
    /** Named streams of one connection. */
    streams: count().default(32),
    /** Responses of one connection that are made at once; of one stream, one is. */
    inFlight: count().default(16),
    /** Frames that wait on one connection for their turn, in characters. */
    queueBytes: count().default(32 * 1024 * 1024),
    /**
     * The conversations that all connections of this process can go on from, in characters. When there are more, the
     * workspace that has most forgets its oldest: such a client then sends the whole input.
     */
    memoryBytes: count().default(256 * 1024 * 1024),
    /** WebSockets to providers that have `webSocket`. */
    upstream: upstreamSocketSettingsSchema().prefault({}),
  }),
);
export interface WebSocketSettings extends z.infer<ReturnType<typeof webSocketSettingsSchema>> {}

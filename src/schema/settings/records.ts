import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { count, milliseconds } from './settings.ts';

/** Option `records`. */
export const recordSettingsSchema = lazily(() =>
  z.strictObject({
    /** true: records of requests are kept in the store, for GET /generation, GET /generations and GET /activity. */
    enabled: z.boolean().default(false),
    /** The time for which a record is kept. */
    ttlMs: milliseconds().default(604_800_000),
    /** The most records that are kept of one workspace; beyond it the oldest go. */
    max: count().default(100_000),
    /** Records that wait to be written. Further ones are dropped and counted: no request waits for the store. */
    queueLength: count().default(10_000),
    /** The longest prompt and response, together, that are kept of a request; see docs/records.md#prompts-and-responses. */
    maxContentChars: count().default(1_000_000),
    /**
     * Characters of prompts and responses that wait to be written. Of more, the workspace with most loses its oldest; no
     * record is lost.
     */
    contentQueueChars: count().default(50_000_000),
    /** The time for which a response with `store: true` is kept; see docs/responses.md#stored-responses. */
    responsesTtlMs: milliseconds().default(2_592_000_000),
    /** The most responses that are kept of one workspace; beyond it the oldest go. */
    maxResponses: count().default(10_000),
    /** The longest response that is kept, in characters, with all of its input. A larger one is not kept, and says so. */
    maxResponseChars: count().default(4_000_000),
    /** The time for which a conversation is kept after its last change; see docs/responses.md#conversations. */
    conversationsTtlMs: milliseconds().default(2_592_000_000),
    /** The most conversations that are kept of one workspace; beyond it go those that were changed the longest time ago. */
    maxConversations: count().default(10_000),
    /** The most items of a conversation. */
    maxConversationItems: count().default(2_000),
    /** The longest conversation, in characters, with its metadata. */
    maxConversationChars: count().default(4_000_000),
    /** The longest time that records are collected before they are written together. */
    flushMs: milliseconds().default(1_000),
    /** The most records that a list with filters looks through for one page. */
    maxScanned: count().default(5_000),
    /** Records that wait for one client of GET /requests/stream. It misses further ones, and is told how many. */
    tailLength: count().default(256),
    /** Characters of the records that wait for one client of GET /requests/stream; it misses further ones as well. */
    tailChars: count().default(1_000_000),
    /**
     * Clients of GET /requests/stream at the same time, of all workspaces. Where all places are taken, a workspace with
     * fewer gets one of the workspace with the most, whose newest client is told so; else it is refused with 429.
     */
    tailWatchers: count().default(100),
    /** The same of one workspace, and of operators together. Further ones are refused with 429. */
    tailWatchersOfWorkspace: count().default(10),
    /** The time for which sums by minute are kept; older ones are told in whole hours. */
    minutesMs: milliseconds().default(172_800_000),
    /** The time for which sums by hour are kept; at least `ttlMs`, for the totals of lists. */
    hoursMs: milliseconds().default(5_356_800_000),
    /** The time for which sums by day are kept. */
    daysMs: milliseconds().default(63_072_000_000),
  }),
);
export interface RecordSettings extends z.infer<ReturnType<typeof recordSettingsSchema>> {}

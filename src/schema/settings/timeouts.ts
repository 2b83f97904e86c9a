import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { milliseconds } from './settings.ts';

/** Option `timeouts`. */
export const timeoutSettingsSchema = lazily(() =>
  z.strictObject({
    /** Until the headers of the provider's response, for a stream. */
    headersMs: milliseconds().default(60_000),
    /**
     * The same for JSON: many providers send no header before their response is complete, and reasoning models take
     * minutes.
     */
    jsonHeadersMs: milliseconds().default(300_000),
    /**
     * From the headers to the first token of a stream, or to the first byte of a JSON body; reasoning models think
     * for minutes.
     */
    firstEventMs: milliseconds().default(300_000),
    /** The longest silence between two chunks of a response. */
    idleMs: milliseconds().default(60_000),
    /** The complete request, from its arrival to the last byte: 408. */
    totalMs: milliseconds().default(600_000),
    /** One call of a server tool; then the model is told that it failed. */
    serverToolMs: milliseconds().default(30_000),
    /** One search of the web; then it has failed: 502, or the model is told so. */
    searchMs: milliseconds().default(15_000),
    /**
     * One call of a hook of a plugin or guardrail: `before`, `prepare`, `foresee`, and `push` or `end` of an asynchronous
     * step. Not `wrap`, whose time is that of its generations. Then 504, or what the plugin's `onError` says.
     */
    pluginMs: milliseconds().default(60_000),
    /**
     * Work of all guardrails of the store on one call, without the pauses in which others have their turn. A request or
     * a response that takes more is blocked (403).
     */
    guardrailMs: milliseconds().default(5_000),
  }),
);
export interface TimeoutSettings extends z.infer<ReturnType<typeof timeoutSettingsSchema>> {}

import { within, withSignal } from '../../base/async/within.ts';
import { type Clock, wait } from '../../base/clock.ts';
import type { BudgetEvent, WebhookSettings } from '../../schema/settings/budget-events.ts';
import { type StoreLogger, writeLog } from '../storage/logger.ts';

/** Sends events to a URL of the operator. */
export interface Webhook {
  /** Returns at once; never throws. */
  send(event: BudgetEvent): void;
  /** Resolves when no event waits any more, or after `drainMs`. Never rejects. */
  close(): Promise<void>;
}

export interface WebhookDeps {
  settings: WebhookSettings;
  clock: Clock;
  logger: StoreLogger | null;
  fetch: typeof fetch;
}

const firstPauseMs = 1_000;
const longestPauseMs = 300_000;
/** The longest time that the end of the gateway waits for deliveries. */
const drainMs = 2_000;

/**
 * Sends one event after the other, so that a receiver gets the events in order. The headers are those of Standard
 * Webhooks, for which many languages have libraries.
 * @see https://www.standardwebhooks.com
 */
export function createWebhook({ settings, clock, logger, fetch }: WebhookDeps): Webhook {
  const { url, secret, timeoutMs, maxRetries, maxWaiting } = settings;
  const queue: BudgetEvent[] = [];
  const signer = signerOf(secret);
  const closing = new AbortController();
  let dropped = 0;
  let working: Promise<void> | null = null;

  async function work(): Promise<void> {
    for (let event = queue[0]; event !== undefined; event = queue[0]) {
      await deliver(event);
      queue.shift();
    }
    working = null;
  }

  async function deliver(event: BudgetEvent): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const failure = await post(event);
      if (failure === null) return;
      if (attempt >= maxRetries || !failure.isPassing || closing.signal.aborted) {
        const fields = { event: event.id, type: event.type, status: failure.status };
        writeLog(logger, 'warn', fields, 'an event of a budget was not delivered to the webhook');
        return;
      }
      const pauseMs = Math.min(firstPauseMs * 4 ** attempt, longestPauseMs);
      // When the gateway closes, the last try comes at once.
      await wait(clock, pauseMs, closing.signal, { isIdle: true }).catch(() => undefined);
    }
  }

  /** @returns null: the receiver has accepted the event */
  async function post(event: BudgetEvent): Promise<{ status: number | null; isPassing: boolean } | null> {
    const body = JSON.stringify(event);
    const timestamp = String(Math.floor(clock.now() / 1000));
    try {
      const signature = await (await signer)(`${event.id}.${timestamp}.${body}`);
      const headers = {
        'content-type': 'application/json',
        'webhook-id': event.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      };
      // Redirects are errors: a new address is the operator's to configure.
      const { status, ok } = await withSignal(clock, { timeoutMs, signals: [], late }, async (signal) => {
        const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal });
        await response.body?.cancel();
        return response;
      });
      return ok ? null : { status, isPassing: status >= 500 || status === 408 || status === 429 };
    } catch {
      // The error of fetch is not logged: it may contain the address, and the address may contain a secret.
      return { status: null, isPassing: true };
    }
  }

  return {
    send(event) {
      if (queue.length >= maxWaiting) {
        dropped++;
        // One log line for each power of ten: a receiver that is away must not fill the log.
        if (Number.isInteger(Math.log10(dropped)))
          writeLog(logger, 'warn', { dropped }, 'events of budgets were dropped: too many wait for the webhook');
        return;
      }
      queue.push(event);
      working ??= work();
    },
    async close() {
      closing.abort();
      await within(clock, drainMs, () => working, late).catch(() => undefined);
    },
  };
}

const late = () => new Error('too slow');

/** Signs texts with HMAC-SHA-256, in base64. */
async function signerOf(secret: string): Promise<(text: string) => Promise<string>> {
  const bytes = Uint8Array.from(atob(secret.slice('whsec_'.length)), (char) => char.charCodeAt(0));
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return async (text) => {
    const signed = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text));
    return btoa(String.fromCharCode(...new Uint8Array(signed)));
  };
}

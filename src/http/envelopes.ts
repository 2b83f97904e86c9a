import type { GatewayError } from '../base/errors.ts';
import type { WireFormat } from '../call/native.ts';
import { geminiError } from '../formats/gemini/error.ts';
import { messagesError, messagesErrorHeaders } from '../formats/messages/error.ts';
import { messagesHeaders } from '../formats/messages/headers.ts';

/** The way in which a wire format writes an error, and names the headers of its responses. */
export interface Envelope {
  /** Returns the members of the body that tell of the error. */
  error(error: GatewayError): Record<string, unknown>;
  /** Returns further headers of an error. */
  errorHeaders?(error: GatewayError): Record<string, string>;
  /** Returns the headers of any response under the names of this wire. */
  headers?(headers: Readonly<Record<string, string>>, nowMs: number): Record<string, string>;
}

/** The metadata of an error; an unexpected one shows none. */
function shownMetadata({ errorType, metadata }: GatewayError): Record<string, unknown> {
  return { error_type: errorType, ...metadata };
}

const chat: Envelope = {
  error(error) {
    const { status, message } = error;
    return { error: { code: status, message, ...(status === 500 ? {} : { metadata: shownMetadata(error) }) } };
  },
};

const messages: Envelope = {
  error(error) {
    const { status, message, headers } = error;
    const id = headers?.['x-generation-id'] ?? null;
    return { type: 'error', error: messagesError(status, message, shownMetadata(error)), request_id: id };
  },
  errorHeaders: messagesErrorHeaders,
  headers: messagesHeaders,
};

const gemini: Envelope = {
  error(error) {
    const { status, message, retryAfterMs } = error;
    return { error: geminiError(status, message, shownMetadata(error), retryAfterMs) };
  },
};

/** The envelope of each wire format. */
export const envelopes: Readonly<Record<WireFormat, Envelope>> = {
  chat,
  completions: chat,
  responses: chat,
  messages,
  gemini,
};

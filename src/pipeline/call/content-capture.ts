import { fingerprintOf } from '../../base/text/fingerprint.ts';
import type { Call, Caller } from '../../call/call.ts';
import type { ResponseStep } from '../../call/hooks.ts';
import { type ChunkFolder, chunkFolder } from '../../formats/chunks.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { CallContent } from '../../telemetry/follow.ts';
import type { IoLogging, WorkspaceDefaults } from '../deps.ts';

/** Keeps the content of a call: the question to the model, and the response that the client gets. */
export class ContentCapture {
  readonly #folder: ChunkFolder = chunkFolder();
  #request: ChatRequest | null = null;

  /** Keeps the request as hooks have left it. With zero data retention, nothing is kept. */
  asked(request: ChatRequest): void {
    this.#request = request.provider?.zdr === true ? null : request;
  }

  /** Sees the response as the client gets it, and changes nothing. */
  readonly step: ResponseStep = {
    push: (chunk) => {
      if (this.#request !== null) this.#folder.add(chunk);
      return [chunk];
    },
  };

  /** Returns the content; null: nothing is to be kept, or the request was refused before it was complete. */
  content(): CallContent | null {
    if (this.#request === null) return null;
    const message = this.#folder.result()?.choices[0]?.message;
    const { content, reasoning, tool_calls: toolCalls } = message ?? {};
    return {
      messages: this.#request.messages,
      completion: typeof content === 'string' ? content : null,
      reasoning: typeof reasoning === 'string' ? reasoning : null,
      toolCalls: Array.isArray(toolCalls) ? toolCalls : [],
    };
  }
}

/** true: the workspace wants the content of a call to be kept. */
export function wantsContent(defaults: WorkspaceDefaults, { id, caller }: Call, isZdr: boolean): boolean {
  const { ioLogging = null } = defaults;
  return ioLogging !== null && !isZdr && keepsContentOf(defaults, caller) && isSampled(id, ioLogging);
}

/** true: the workspace lets contents of this caller's calls be kept, of all or of some. */
export function keepsContentOf({ ioLogging = null }: WorkspaceDefaults, { apiKeyHash }: Caller): boolean {
  if (ioLogging === null) return false;
  const { apiKeyIds } = ioLogging;
  return apiKeyIds === null || (apiKeyHash !== null && apiKeyIds.includes(apiKeyId(apiKeyHash)));
}

/** Decides by the id of the call, so that every instance decides the same. */
function isSampled(id: string, { samplingRate }: IoLogging): boolean {
  return samplingRate >= 1 || fingerprintOf([id]) / 2 ** 53 < samplingRate;
}

/** The integer by which `io_logging_api_key_ids` names a key: the first 12 hex digits of its hash. */
function apiKeyId(hash: string): number {
  return Number.parseInt(hash.slice(0, 12), 16);
}

import type { ChatRequest } from '../schema/chat/chat.ts';
import type { PipelineStage } from '../schema/chat/envelope.ts';
import type { Ask } from './ask.ts';
import type { Shortening } from './facts.ts';
import type { Endpoint } from './model.ts';

/** A request that was made shorter, and the stage that reports it. */
export interface Shortened {
  /** The request with a shorter prompt. */
  request: ChatRequest;
  /** The stage that `service_metadata.pipeline` shows where the request is sent. */
  stage: PipelineStage;
}

/** Makes prompts fit the context of an endpoint. */
export interface Shortener {
  /**
   * Tells whether a request wants a prompt that is too long to be shortened; null: it does not say.
   * @throws GatewayError invalid_request (400)
   */
  asked(ask: Pick<Ask, 'request' | 'native'>): boolean | null;
  /** The endpoints whose prompts are shortened where a request does not say. */
  bySize: Shortening;
  /**
   * Shortens a request. Does no I/O, and always gives the same result.
   * @returns null: the prompt fits as it is. Where it cannot be made to fit, the request stays as it is, and the stage
   * tells by how much it is too long
   */
  shorten(request: ChatRequest, endpoint: Endpoint): Shortened | null;
}

import type { ChatRequest } from '../schema/chat/chat.ts';
import type { PipelineStage } from '../schema/chat/envelope.ts';
import type { Ask } from './ask.ts';
import type { Shortening } from './facts.ts';
import type { Endpoint } from './model.ts';

/** A request that was made shorter, and the stage that says so. */
export interface Shortened {
  /** The request with a shorter prompt. */
  request: ChatRequest;
  /** Shown in `service_metadata.pipeline` where the request is sent. */
  stage: PipelineStage;
}

/** Makes prompts fit the context of an endpoint. */
export interface Shortener {
  /**
   * Whether a request wants a prompt that is too long to be shortened; null: it says nothing.
   * @throws GatewayError invalid_request (400)
   */
  asked(ask: Pick<Ask, 'request' | 'native'>): boolean | null;
  /** What is shortened where a request says nothing. */
  bySize: Shortening;
  /**
   * Without I/O, and always with the same result.
   * @returns null: the prompt fits as it is. Where it cannot be made to fit, the request stays as it is, and the stage
   *          says by how much it is too long
   */
  shorten(request: ChatRequest, endpoint: Endpoint): Shortened | null;
}

import type { ChatRequest } from '../schema/chat.ts';

/** Says that a request was made by the plugin `fusion`, of this gateway or of another one, and how many stand above it. */
export const fusionDepthHeader = 'x-service-fusion-depth';

/** What a fusion writes on a request that it makes. One object for each request: it says which request another was made of. */
export interface FusionMark {
  /** How many fusions stand above the request, this one included. */
  readonly levels: number;
}

/** A symbol: no JSON has it, so no caller can make one, and it is in no JSON that is sent. */
const mark = Symbol('fusion mark');

/** A chat request whose attempts carry the header. Copies by `{ ...request }` keep the mark. */
export function withFusionMark(request: ChatRequest, levels: number): ChatRequest {
  return Object.assign(request, { [mark]: { levels } satisfies FusionMark });
}

/** undefined: no fusion made the request. */
export function fusionMarkOf(request: ChatRequest): FusionMark | undefined {
  return (request as { [mark]?: FusionMark })[mark];
}

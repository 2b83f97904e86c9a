import type { Choice, Fault, PlayedResponse, Token } from './outcome.ts';
import type { SandboxRequest } from './request.ts';
import { splitTokens } from './tokens.ts';

/** The longest response of most models, in tokens. */
export const usualMaxCompletionTokens = 4_096;

/** The differences from an ordinary response. */
export interface Manner {
  finishReason?: Choice['finishReason'];
  reportsUsage?: boolean;
  inOneEvent?: boolean;
  fault?: Fault;
  firstTokenMs?: number;
  tokenMs?: number;
}

/**
 * Cuts the texts of each choice into tokens, as far as `stop` and the limit allow, and adds the pace.
 * @param say  the texts of a choice, each complete
 */
export function speak(
  request: SandboxRequest,
  say: (choice: number) => readonly Token[],
  manner: Manner = {},
): PlayedResponse {
  const limit = request.maxTokens ?? usualMaxCompletionTokens;
  const choices = Array.from({ length: request.choices }, (_, index): Choice => {
    const tokens = say(index).flatMap((part) => tokensOf(part, request.stop, limit + 1));
    const isCut = tokens.length > limit;
    return {
      tokens: isCut ? tokens.slice(0, limit) : tokens,
      finishReason: isCut ? 'length' : (manner.finishReason ?? 'stop'),
    };
  });
  return {
    kind: 'response',
    choices,
    pace: {
      firstTokenMs: request.options.first_token_ms ?? manner.firstTokenMs ?? 20,
      tokenMs: request.options.token_ms ?? manner.tokenMs ?? 10,
    },
    fault: manner.fault ?? null,
    reportsUsage: manner.reportsUsage ?? true,
    inOneEvent: manner.inOneEvent ?? false,
  };
}

function tokensOf(part: Token, stop: readonly string[], limit: number): Token[] {
  if (part.kind === 'call') return [part];
  const ends =
    part.kind === 'content' ? stop.map((sequence) => part.text.indexOf(sequence)).filter((at) => at >= 0) : [];
  return splitTokens(part.text.slice(0, Math.min(...ends, part.text.length)), limit).map((text) => ({
    ...part,
    text,
  }));
}

export function content(text: string): Token[] {
  return [{ kind: 'content', text }];
}

import { lazily } from '../../base/lazily.ts';
import { refusal } from '../../base/refusal.ts';
import type { Ask } from '../../call/ask.ts';
import type { Endpoint } from '../../call/model.ts';
import type { Shortened, Shortener } from '../../call/shortener.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import { checkedSettings, field } from '../../schema/host-object.ts';
import { builtInPlugin, type Plugin } from '../plugin.ts';
import { fitted } from './fit.ts';

/** Settings of the plugin `context-compression`; all have a default. */
export interface ContextCompressionOptions {
  /** true: the plugin acts on requests that do not name it, for every context of the endpoint. Default false. */
  isDefault?: boolean | undefined;
  /**
   * The largest context, in tokens, of endpoints for which the plugin acts where a request does not say. Default 8,192;
   * 0: for none.
   */
  smallContext?: number | undefined;
  /**
   * The room for the response, in tokens, where the request names no largest output; at most an eighth of the context.
   * Default 1,024.
   */
  outputTokens?: number | undefined;
  /** Counts the tokens of a text. It must be fast: it is called for each text of a prompt. Default: they are estimated. */
  countTokens?: ((text: string) => number) | undefined;
}

/** The limits, where the host app sets none. */
export const contextCompressionDefaults = { smallContext: 8_192, outputTokens: 1_024 } as const;

const shape = lazily(() => ({
  isDefault: field.flag().optional(),
  smallContext: field.count().optional(),
  outputTokens: field.count().optional(),
  countTokens: field.fn().optional(),
}));

/**
 * Takes the middle out of prompts that are too long for the context of an endpoint.
 * @see docs/plugins/context-compression.md
 */
export function contextCompression(options: ContextCompressionOptions = {}): Plugin {
  const settings = { ...contextCompressionDefaults, ...checkedSettings('contextCompression', options, shape) };
  /** The held request and the sent one are the same, and a retry is not counted again. */
  const known = new WeakMap<ChatRequest, Map<Endpoint, Shortened | null>>();
  const shortener: Shortener = {
    asked: (ask) => asked(ask) ?? (options.isDefault === true ? true : null),
    bySize: {
      isAsked: false,
      isFor: ({ contextLength }) => contextLength !== null && contextLength <= settings.smallContext,
    },
    shorten(request, endpoint) {
      let byEndpoint = known.get(request);
      if (byEndpoint === undefined) {
        byEndpoint = new Map();
        known.set(request, byEndpoint);
      }
      let shortened = byEndpoint.get(endpoint);
      if (shortened === undefined) {
        shortened = fitted(request, endpoint, settings);
        byEndpoint.set(endpoint, shortened);
      }
      return shortened;
    },
  };
  return builtInPlugin({ id: 'context-compression', shortener });
}

/**
 * Tells whether a request wants its prompt shortened; null: it does not say. @throws GatewayError invalid_request (400)
 */
function asked({ request, native }: Pick<Ask, 'request' | 'native'>): boolean | null {
  const entry = request.plugins?.find(({ id }) => id === 'context-compression');
  const byTransforms = askedByTransforms(request.transforms);
  // An image is not made of a conversation, and its prompt is not made shorter by leaving out its subject.
  const { modalities } = request;
  if (modalities?.length && !modalities.includes('text')) return false;
  if (native?.purpose === 'compact') return false;
  return entry === undefined ? byTransforms : entry.enabled !== false;
}

/** Reads `transforms`, the older way to ask. */
function askedByTransforms(transforms: unknown): boolean | null {
  if (transforms === undefined || transforms === null) return null;
  if (Array.isArray(transforms) && transforms.every((one) => one === 'middle-out')) return transforms.length > 0;
  throw refusal('invalid_request', [{ path: 'transforms', message: 'expected [] or ["middle-out"]' }]);
}

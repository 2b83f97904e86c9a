import * as z from 'zod';
import { joinUrl } from '../../base/http/base-url.ts';
import { bearerHeader, requestJson } from '../../base/http/request-json.ts';
import { lazily } from '../../base/lazily.ts';
import { isObject } from '../../base/values.ts';
import { checkedHostObject, field } from '../../schema/host-object.ts';
import type { Moderator, Verdict } from './moderator.ts';

/** Options of `openaiModerator`. */
export interface OpenAiModeratorOptions {
  /** The key of the account. */
  apiKey: string;
  /** The address of a service with the same endpoint. Default `https://api.openai.com/v1`. */
  baseUrl?: string | undefined;
  /** The model. Default `omni-moderation-latest`. */
  model?: string | undefined;
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** The most bytes of a response. A verdict takes some 2 kB. */
const maxBytes = 1_000_000;

const shape = lazily(() => ({
  // Without a key, the service itself refuses.
  apiKey: z.string(),
  baseUrl: field.text().optional(),
  model: field.text().optional(),
  fetch: field.fn().optional(),
}));

/**
 * The moderation endpoint of OpenAI.
 * @see https://platform.openai.com/docs/api-reference/moderations
 */
export function openaiModerator(options: OpenAiModeratorOptions): Moderator {
  checkedHostObject('openaiModerator', options, shape);
  const { apiKey, baseUrl = 'https://api.openai.com/v1', model = 'omni-moderation-latest' } = options;
  return {
    name: 'OpenAI',
    model,
    async classify(texts, signal) {
      const url = joinUrl(baseUrl, '/moderations');
      const body = { model, input: texts };
      const verdicts = verdictsIn(
        await requestJson({ url, headers: bearerHeader(apiKey), body, maxBytes, signal, fetch: options.fetch }),
      );
      if (verdicts.length !== texts.length) throw new Error('The moderation endpoint answered without all results');
      return verdicts;
    },
  };
}

function verdictsIn(body: unknown): Verdict[] {
  const results = isObject(body) && Array.isArray(body.results) ? body.results : [];
  return results.map((result) => {
    if (!isObject(result) || typeof result.flagged !== 'boolean')
      throw new Error('The moderation endpoint answered with a result of another form');
    const categories = isObject(result.categories) ? result.categories : {};
    return { flagged: result.flagged, reasons: Object.keys(categories).filter((name) => categories[name] === true) };
  });
}

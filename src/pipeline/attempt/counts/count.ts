import { UpstreamError } from '../../../base/http/upstream-error.ts';
import { isObject } from '../../../base/values.ts';
import type { Ask } from '../../../call/ask.ts';
import { noHeaders } from '../../../call/ask.ts';
import type { Call } from '../../../call/call.ts';
import type { Target } from '../../../call/plan.ts';
import { factsOf, withFacts } from '../../../catalog/model-facts/index.ts';
import type { EncodedRequest } from '../../../dialects/dialect.ts';
import { encodeFitted } from '../../../dialects/fit/index.ts';
import type { Provider } from '../../../providers/provider.ts';
import type { AttemptDeps } from '../../deps.ts';
import { checkReadable } from '../../plan/readable.ts';
import { type ExchangeObserver, exchange, type Work } from '../exchange.ts';
import { fittedRequest } from '../outgoing.ts';
import { readJson } from '../response.ts';

/** The request whose prompt is counted. */
export interface CountInput extends Pick<Call, 'signal'> {
  /** The request as the target would get it. */
  ask: Ask;
  /** true: money is limited, so that parts which cost more than the held tokens would not be sent. */
  isLimited: boolean;
}

/**
 * Asks a target for the number of tokens of a prompt, with the credential, the transport and the encoding of an attempt.
 * It is free of charge, and says nothing about the health of the endpoint.
 * @returns null: the provider has no count for the request
 * @throws  UpstreamError where the provider fails; the reason of the signal after an abort
 */
export async function countAt(deps: AttemptDeps, input: CountInput, target: Target): Promise<number | null> {
  const provider = deps.provider(target.endpoint.providerSlug) as Provider;
  if (provider.dialect.count === undefined || deps.missingCounts?.has(target) === true) return null;
  const encoded = encodedCount(input, target, provider);
  if (encoded === null) return null;
  const watcher = new CountWatcher();
  const ask = (isRenewed: boolean) => exchange(deps, workOf(encoded, input, isRenewed), target, watcher);
  try {
    return await ask(false).catch((error: unknown) => {
      if (!watcher.isRenewed) throw error;
      return ask(true);
    });
  } catch (error) {
    deps.missingCounts?.note(target, error);
    throw error;
  }
}

interface EncodedCount extends EncodedRequest {
  tokensIn(body: Readonly<Record<string, unknown>>): unknown;
}

function encodedCount({ ask, isLimited }: CountInput, target: Target, provider: Provider): EncodedCount | null {
  const { native, headers } = ask;
  const { upstreamModel } = target.endpoint;
  checkReadable(native, provider, target);
  const { request } = fittedRequest(ask.request, target, provider);
  const quirks = withFacts(provider, factsOf(target.endpoint));
  const encoded = encodeFitted(provider.dialect, {
    request,
    native,
    upstreamModel,
    quirks,
    isLimited,
    isByok: target.isByok,
  });
  const count = provider.dialect.count?.(encoded, upstreamModel, quirks) ?? null;
  if (count === null) return null;
  return { ...encoded, ...count, headers: headers === noHeaders ? count.headers : { ...headers, ...count.headers } };
}

function workOf(encoded: EncodedCount, { signal }: CountInput, isRenewed: boolean): Work<number> {
  return {
    isStream: false,
    signal,
    isRenewed,
    encode: () => encoded,
    async read(context, response, release) {
      const body = await readJson(context, response);
      release();
      const tokens = isObject(body) ? encoded.tokensIn(body) : null;
      if (typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0) return tokens;
      throw new UpstreamError('The provider sent no number of tokens.', { reason: 'bad_response', status: 502 });
    },
  };
}

/** Learns whether only the key was at fault. */
class CountWatcher implements ExchangeObserver<number> {
  /** true: the provider refused a key that has come to its end, and there is a new one. */
  isRenewed = false;
  sends(): void {}
  responded(): void {}
  succeeded(): void {}
  failed(_: unknown, isRenewed: boolean): void {
    this.isRenewed = isRenewed;
  }
}

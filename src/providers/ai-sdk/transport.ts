import { UpstreamError } from '../../base/http/upstream-error.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { unsupported } from '../../dialects/shared/unsupported.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../transport/transport.ts';
import { partsBody, textBody } from './body.ts';
import { failureOf } from './failure.ts';
import type { AiSdkModel } from './model.ts';
import { resultText } from './wire.ts';

/** Finds a model by its name; undefined: there is none. */
export type ModelNamed = (id: string) => AiSdkModel | undefined;

/**
 * A transport that calls models in this process, as if they were behind HTTP. The request of the dialect becomes the
 * options of a call. The result of the model becomes JSON or server-sent events, and its errors get a status.
 */
export function modelTransport(modelNamed: ModelNamed): Transport {
  return {
    async send(request) {
      const { signal } = request;
      signal.throwIfAborted();
      const controller = new AbortController();
      const onAbort = () => controller.abort(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        return await call(request, modelNamed, controller);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        return failedResponse(error);
      } finally {
        // From now on, the body listens to the signal.
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}

interface Asked {
  model: string;
  stream: boolean;
  prompt: unknown;
}

async function call(
  { body: sent, signal }: TransportRequest,
  modelNamed: ModelNamed,
  controller: AbortController,
): Promise<TransportResponse> {
  const text = typeof sent === 'string' ? sent : new TextDecoder().decode(sent);
  const { model: id, stream: isStream, prompt, ...settings } = JSON.parse(text) as Asked;
  const model = checked(modelNamed(id), id);
  const supported = (await until(signal, model.supportedUrls)) ?? {};
  const options = { ...settings, prompt: withAddresses(prompt, supported), abortSignal: controller.signal };
  if (!isStream) {
    const result = await until(signal, model.doGenerate(options));
    return { status: 200, headers: { 'content-type': 'application/json' }, body: textBody(resultText(result)) };
  }
  const opening = Promise.resolve(model.doStream(options));
  const { stream } = await until(signal, opening).catch((error: unknown) => {
    // A model that does not listen to its signal may open the stream later.
    if (signal.aborted) opening.then(({ stream: late }) => late.cancel()).catch(() => undefined);
    throw error;
  });
  const body = partsBody(stream, signal, (reason) => controller.abort(reason));
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body };
}

function checked(model: AiSdkModel | undefined, id: string): AiSdkModel {
  if (model?.specificationVersion === 'v4') return model;
  throw new UpstreamError(`There is no AI SDK language model of version 4 named ${id}.`, {
    reason: 'status',
    status: 404,
    isUnsent: true,
  });
}

/** Resolves with the value of a promise, unless the signal is aborted before: a model need not listen to the signal. */
function until<Value>(signal: AbortSignal, value: Value | PromiseLike<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    Promise.resolve(value)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** @throws an error that is not from a provider or the AI SDK: its message is for the log alone */
function failedResponse(error: unknown): TransportResponse {
  const failure = error instanceof UpstreamError ? null : failureOf(error);
  if (failure === null) throw error;
  const { status, isRefusal, headers, message, code } = failure;
  // A status would mean that nothing has to be paid for.
  if (!isRefusal) throw new UpstreamError(message, { reason: 'network', status, providerCode: code });
  return {
    status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: textBody(JSON.stringify({ error: { message, code } })),
  };
}

/** The URLs that a model accepts, by media type. */
type SupportedUrls = Readonly<Record<string, readonly RegExp[]>>;

/**
 * The prompt with its addresses as URLs. The gateway fetches no file for a caller, so an address that the model itself
 * does not accept is refused.
 * @throws UpstreamError 400
 */
function withAddresses(prompt: unknown, supported: SupportedUrls): unknown {
  if (!Array.isArray(prompt)) return prompt;
  return prompt.map((message) =>
    isObject(message) && Array.isArray(message.content)
      ? { ...message, content: message.content.map((part) => withAddress(part, supported)) }
      : message,
  );
}

function withAddress(part: unknown, supported: SupportedUrls): unknown {
  if (!isObject(part)) return part;
  const { data, output } = part;
  if (part.type === 'file' && isObject(data) && data.type === 'url' && typeof data.url === 'string')
    return { ...part, data: { ...data, url: accepted(data.url, String(part.mediaType), supported) } };
  if (part.type === 'tool-result' && isObject(output) && Array.isArray(output.value))
    return { ...part, output: { ...output, value: output.value.map((one) => withAddress(one, supported)) } as Loose };
  return part;
}

function accepted(address: string, mediaType: string, supported: SupportedUrls): URL {
  const [kind = ''] = mediaType.split('/');
  const patterns = [mediaType, `${kind}/*`, kind, '*/*', '*'].flatMap((key) =>
    Object.hasOwn(supported, key) ? (supported[key] ?? []) : [],
  );
  const lower = address.toLowerCase();
  if (!patterns.some((pattern) => new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(lower)))
    throw unsupported(`messages: ${address.slice(0, 200)}`, 'a data URL: the model does not take this address itself');
  return new URL(address);
}

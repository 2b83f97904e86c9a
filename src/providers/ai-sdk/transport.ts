import { UpstreamError } from '../../base/upstream-error.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../transport/transport.ts';
import { withAddresses } from './addresses.ts';
import { partsBody, textBody } from './body.ts';
import { failureOf } from './failure.ts';
import type { AiSdkModel } from './model.ts';
import { resultText } from './wire.ts';

/** undefined: there is no such model. */
export type ModelNamed = (id: string) => AiSdkModel | undefined;

/**
 * Calls models in this process, and speaks as if they were behind HTTP: what the dialect wrote becomes the options of a
 * call, what the model gives becomes JSON or server-sent events, and its errors get a status.
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
        // From now on, the body listens.
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

/** What a promise gives, unless the signal is aborted before: a model need not listen to it. */
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

/** @throws what is no error of a provider or of the AI SDK: its words are for the log alone */
function failedResponse(error: unknown): TransportResponse {
  const failure = error instanceof UpstreamError ? null : failureOf(error);
  if (failure === null) throw error;
  const { status, isRefusal, headers, message, code } = failure;
  // As a status, it would say that nothing has to be paid for.
  if (!isRefusal) throw new UpstreamError(message, { reason: 'network', status, providerCode: code });
  return {
    status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: textBody(JSON.stringify({ error: { message, code } })),
  };
}

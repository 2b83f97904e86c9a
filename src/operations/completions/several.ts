import { StopSwitch } from '../../base/async/stop.ts';
import { isGatewayError } from '../../base/errors.ts';
import { idHeader } from '../../base/ids.ts';
import type { Loose } from '../../base/values.ts';
import { CallAborted } from '../../call/abort.ts';
import type { Call } from '../../call/call.ts';
import type { OperationReply } from '../../call/reply.ts';
import { inBand } from '../../pipeline/deliver/shown.ts';
import { serve } from '../../pipeline/serve.ts';
import { promptsOf } from '../../schema/completions/issues.ts';
import type { TextCompletionRequest } from '../../schema/completions/request.ts';
import type { OperationInput } from '../operation.ts';
import type { CompletionsDeps, PromptOfSeveral } from './call-of.ts';
import { JoinedTexts } from './joined.ts';
import { JoinedSource } from './joined-source.ts';
import { Turns } from './turns.ts';

/** The most prompts of one request that are with providers at once. */
const promptsAtOnce = 4;

type Input = OperationInput<TextCompletionRequest>;
type CallOf = (input: Input, one: PromptOfSeveral) => Call;

/**
 * Serves several prompts: each is a call of its own, with its hold, its settlement and its record. Their responses come as
 * one.
 * @throws GatewayError of the first prompt that failed; its metadata has `prompt`
 */
export async function serveSeveral(deps: CompletionsDeps, callOf: CallOf, input: Input): Promise<OperationReply> {
  const prompts = promptsOf(input.body);
  const joined = new JoinedTexts(deps.brand, prompts.length);
  const signal = new StopSwitch();
  if (input.signal.aborted) signal.abort(input.signal.reason);
  else input.signal.addEventListener('abort', () => signal.abort(input.signal.reason), { once: true });
  const turns = new Turns(prompts.length, promptsAtOnce, signal, unwanted);
  const texts = input.body.n ?? 1;
  const calls = prompts.map((prompt, at) => {
    const part = joined.part(at, texts, () => turns.begins(at));
    return callOf({ ...input, signal }, { prompt, part, held: () => turns.held(at) });
  });
  joined.id = calls[0]?.id ?? '';
  const served = calls.map(async (call, at) => {
    try {
      return await serve(deps.pipeline, call);
    } catch (error) {
      throw turns.failed(at, error);
    }
  });
  return input.body.stream === true
    ? streamed(deps, { calls, joined, turns, served, stop: () => signal.abort(unwanted()) })
    : whole({ joined, turns, served });
}

/** The end of a prompt for whose response nobody waits any more. */
function unwanted(): CallAborted {
  return new CallAborted('client_left');
}

interface Served {
  joined: JoinedTexts;
  turns: Turns;
  served: readonly Promise<OperationReply>[];
}

/** Replies with JSON, once all prompts have ended: one that is with a provider is paid for, also where another has failed. */
async function whole({ joined, turns, served }: Served): Promise<OperationReply> {
  const ended = await Promise.allSettled(
    served.map(async (one, at) => {
      const reply = await one;
      turns.ended(at);
      return reply;
    }),
  );
  if (turns.failure !== null) throw turns.failure.error;
  const replies = ended.map((one) => (one as PromiseFulfilledResult<OperationReply>).value);
  const bodies = replies.map((reply) => (reply as { body: Loose }).body);
  const last = bodies.find(({ prompts }) => prompts !== undefined);
  const choices = bodies.flatMap((body) => body.choices as Loose[]);
  return {
    status: 200,
    headers: headersOf(replies, joined),
    kind: 'json',
    body: { ...bodies[0], choices, usage: last?.usage, prompts: last?.prompts },
  };
}

/** Replies with a stream, once the first prompt has one. */
async function streamed(
  { pipeline }: CompletionsDeps,
  { calls, joined, turns, served, stop }: Served & { calls: readonly Call[]; stop: () => void },
): Promise<OperationReply> {
  const sources = served.map(async (one, at) => {
    const reply = (await one) as OperationReply & { kind: 'stream' };
    reply.body.onEnd(() => turns.ended(at));
    return reply.body;
  });
  const body = new JoinedSource(sources, {
    failedAt: () => joined.failedAt,
    framesOf(error, at) {
      if (!isGatewayError(error) || pipeline.streams.onCut === 'close') return null;
      const { id, created, encoder, request } = calls[at] as Call;
      const head = { id, created, model: request.model ?? '', provider: '' };
      return encoder.fail(head, inBand({ hooks: [] }, error, error), {});
    },
    stop,
  });
  const [first] = await Promise.allSettled([Promise.race(served)]);
  if (turns.failure === null && first.status === 'fulfilled')
    return { status: 200, headers: headersOf([first.value], joined), kind: 'stream', body };
  body.cancel();
  throw turns.failure?.error;
}

/** Returns the headers of the last reply, with the id of the response, and all fields that had no effect. */
function headersOf(replies: readonly OperationReply[], { id }: JoinedTexts): Record<string, string> {
  const dropped = replies.flatMap(({ headers }) => headers?.['x-service-dropped']?.split(', ') ?? []);
  return {
    ...replies.at(-1)?.headers,
    ...idHeader(id),
    ...(dropped.length === 0 ? {} : { 'x-service-dropped': [...new Set(dropped)].join(', ') }),
  };
}

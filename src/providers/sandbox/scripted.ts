import { type Clock, SteadyClock } from '../../base/clock.ts';
import { issueText } from '../../base/refusal.ts';
import { validationIssues } from '../../schema/chat/validate.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../transport/transport.ts';
import { type CheckedAnswer, type CheckedSaid, type ScriptRequest, saidSchema } from './answer.ts';
import { failure, networkError, refusalOutcome } from './failure.ts';
import type { Choice, Fault, Outcome, Token } from './outcome.ts';
import { Refusal, readRequest, type SandboxRequest, textOf } from './request.ts';
import type { SandboxScript } from './script.ts';
import { countPromptTokens, splitTokens } from './tokens.ts';
import { bodyText, documentResponse, playOutcome } from './transport.ts';

export interface ScriptedUpstream {
  clock: Clock;
  script: SandboxScript;
  /** Slug of the provider. */
  provider: string;
  /** false: the provider's wire format is not that of the sandbox. */
  speaks: boolean;
}

/** The upstream of one provider that answers by a script. */
export function createScriptedTransport(upstream: ScriptedUpstream): Transport {
  const { clock } = upstream;
  return {
    async send(request) {
      request.signal.throwIfAborted();
      try {
        return await respond(request, upstream);
      } catch (error) {
        if (error instanceof Refusal) return documentResponse(refusalOutcome(error), request.signal, clock);
        throw error;
      }
    },
  };
}

async function respond(
  request: TransportRequest,
  { clock: timeOfDay, script, provider, speaks }: ScriptedUpstream,
): Promise<TransportResponse> {
  const { signal } = request;
  const clock = new SteadyClock(timeOfDay);
  const startMs = clock.now();
  if (!speaks)
    throw new Refusal(
      `The sandbox script cannot answer for the provider ${provider}: it speaks OpenAI's chat completions only.`,
      { code: 'sandbox_script' },
    );
  const text = bodyText(request);
  const asked = readRequest(text);
  const promptTokens = countPromptTokens(asked);
  const last = asked.messages.findLast(({ role }) => role === 'user');
  const { request: seen, taken } = take(script, {
    provider,
    model: asked.model,
    messages: asked.messages,
    lastUserMessage: last ? textOf(last) : '',
    stream: asked.stream,
    tools: asked.tools.map(({ name }) => name),
    body: JSON.parse(text),
    atMs: startMs,
  });
  if (taken.kind === 'none') throw new Refusal(taken.message, { code: 'sandbox_script' });
  const answer = await answerOf(taken.answer, seen, `[${taken.index}].respond`);
  signal.throwIfAborted();
  // A failure of a script comes at the script's time, whatever the request asks for.
  const paced: SandboxRequest = { ...asked, options: { first_token_ms: answer.firstTokenMs ?? 0 } };
  const playing = { asked: paced, promptTokens, number: seen.number, startMs, clock, signal };
  return await playOutcome(outcomeOf(answer, asked, seen.number), playing);
}

/** Takes an answer. A condition that throws is a mistake of the test, and becomes an error of the script. */
function take(script: SandboxScript, seen: Omit<ScriptRequest, 'number'>): ReturnType<SandboxScript['take']> {
  try {
    return script.take(seen);
  } catch (error) {
    throw new Refusal(`A condition of the sandbox script threw: ${messageOf(error)}`, { code: 'sandbox_script' });
  }
}

async function answerOf(answer: CheckedAnswer, seen: ScriptRequest, place: string): Promise<CheckedSaid> {
  if (!answer.respond) return answer;
  const refuse = (what: string) => new Refusal(`The sandbox script: ${place} ${what}`, { code: 'sandbox_script' });
  let given: unknown;
  try {
    given = await answer.respond(seen);
  } catch (error) {
    throw refuse(`threw: ${messageOf(error)}`);
  }
  const parsed = saidSchema().safeParse(typeof given === 'string' ? { text: given } : given);
  if (parsed.success) return parsed.data;
  const [issue] = validationIssues(parsed.error);
  throw refuse(`returned no answer: ${issue ? issueText(issue) : ''}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'no error object';
}

/** The response exactly as in the script, whatever `stop` or a limit of the request would cut. */
function outcomeOf(answer: CheckedSaid, asked: SandboxRequest, number: number): Outcome {
  const { error, fault, usage, firstTokenMs = 0, tokenMs = 0 } = answer;
  if (error) {
    const { status, message = `The sandbox script answers with ${status}.`, code, retryAfter } = error;
    const details = { ...(code === undefined ? {} : { code }), ...(retryAfter === undefined ? {} : { retryAfter }) };
    return failure(status, message, details);
  }
  if (fault?.kind === 'timeout') return { kind: 'silence' };
  if (fault?.kind === 'unreachable') return { kind: 'unreachable', error: networkError('The connection was refused') };
  const choices = Array.from({ length: asked.choices }, (_, index) => choiceOf(answer, number, index));
  const all = Math.max(...choices.map(({ tokens }) => tokens.length));
  return {
    kind: 'response',
    choices,
    pace: { firstTokenMs, tokenMs },
    fault: fault ? faultOf(fault, fault.kind, all) : null,
    reportsUsage: usage !== false,
    ...(usage ? { usage } : {}),
    inOneEvent: false,
  };
}

function choiceOf(answer: CheckedSaid, number: number, choice: number): Choice {
  const { text, json, reasoning, refusal, toolCalls = [], finishReason } = answer;
  const said = (kind: 'content' | 'reasoning' | 'refusal', all: string | undefined): Token[] =>
    splitTokens(all ?? '', Infinity).map((part) => ({ kind, text: part }));
  const tokens: Token[] = [
    ...said('reasoning', reasoning),
    ...said('content', json === undefined ? text : JSON.stringify(json)),
    ...said('refusal', refusal),
    ...toolCalls.flatMap(({ id, name, arguments: given = {} }, call): Token[] => [
      { kind: 'call', call, name, id: id ?? `call_script_${number}_${choice}_${call}` },
      ...splitTokens(typeof given === 'string' ? given : JSON.stringify(given), Infinity).map(
        (part): Token => ({ kind: 'arguments', call, text: part }),
      ),
    ]),
  ];
  return { tokens, finishReason: finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop') };
}

/** @param all  the number of tokens */
function faultOf(
  { afterTokens, message, status = 500 }: NonNullable<CheckedSaid['fault']>,
  kind: Fault['kind'],
  all: number,
): Fault {
  const fault: Fault = { kind, afterTokens: afterTokens ?? all };
  if (kind !== 'error') return fault;
  return { ...fault, error: failure(status, message ?? 'The sandbox script breaks off here.') };
}

import { isGatewayError } from '../../base/errors.ts';
import { parseJson } from '../../base/json.ts';
import { StopSwitch } from '../../base/stop.ts';
import { isObject } from '../../base/values.ts';
import { withSignal } from '../../base/within.ts';
import type { Generation, ResponseEnd, StreamedResponse } from '../../call/generation.ts';
import { chunkFolder, toChunks } from '../../convert/chunks.ts';
import { namedSlugs } from '../../routing/expand.ts';
import { splitSuffixes } from '../../routing/variant.ts';
import type { ChatMessage, ChatRequest, ChatResult, ToolCall } from '../../schema/chat.ts';
import type { ChatChunk } from '../../schema/chunk.ts';
import type { CallRun } from '../call-run.ts';
import { followed } from '../followed.ts';
import { generate } from '../generate.ts';
import type { Offer, OfferedTool } from './offer.ts';
import { type StepEnd, StepOutput } from './step-output.ts';
import { stoppedBy } from './stop.ts';

/** Calls of one step that are run; a model makes fewer, and each takes time of the gateway. */
const mostCalls = 32;
/** Arguments are flat; a tool may want some depth. */
const maxArgumentDepth = 32;

/**
 * Calls the model, runs the server tools that it calls, and calls it again with their results, until it calls none, or
 * functions of the caller. Each step is a generation: planned, held and booked by itself.
 */
export async function respondWithServerTools(run: CallRun, offer: Offer): Promise<Generation> {
  const loop = new Loop(run, offer);
  const first = await generate(run, offer.request);
  return first.kind === 'stream' ? streamed(run, loop, first) : complete(run, loop, first);
}

async function complete(run: CallRun, loop: Loop, first: Generation & { kind: 'complete' }): Promise<Generation> {
  const output = new StepOutput(loop.isServerTool);
  const folder = chunkFolder();
  let generation = first;
  for (;;) {
    for (const chunk of toChunks(generation.result)) for (const passed of output.push(chunk)) folder.add(passed);
    const step = output.endStep();
    const next = await loop.after(step);
    if (next === null) {
      if (loop.steps === 1 && step.serverCalls.length === 0) return first;
      for (const chunk of lastChunk(step)) folder.add(chunk);
      const result = { ...first.result, ...(folder.result() as ChatResult) };
      return { kind: 'complete', head: first.head, result, log: generation.log };
    }
    generation = (await generate(run, servedFirst(next, generation.head.model))) as typeof first;
  }
}

function streamed(run: CallRun, loop: Loop, first: Generation & StreamedResponse): Generation {
  const output = new StepOutput(loop.isServerTool);
  let current = first;
  let end: ResponseEnd | null = null;
  /** The step that has ended, whose tools are still to be run. */
  let ended: StepEnd | null = null;

  async function pullNext(): Promise<ChatChunk[]> {
    if (ended !== null) {
      const step = ended;
      ended = null;
      const next = await loop.after(step);
      if (next === null) {
        end ??= { kind: 'complete' };
        return lastChunk(step);
      }
      current = (await generate(run, servedFirst(next, current.head.model))) as typeof first;
      if (end !== null) current.cancel();
    }
    const chunks: ChatChunk[] = [];
    for (const chunk of await current.pull()) for (const passed of output.push(chunk)) chunks.push(passed);
    if (current.end?.kind === 'complete') ended = output.endStep();
    else end ??= current.end;
    return chunks;
  }

  return {
    kind: 'stream',
    head: first.head,
    get log() {
      return current.log;
    },
    get end() {
      return end;
    },
    async pull() {
      try {
        return await pullNext();
      } catch (error) {
        end ??= { kind: 'failed', error };
        return [];
      }
    },
    cancel() {
      end ??= { kind: 'cancelled' };
      loop.cancel();
      current.cancel();
    },
  };
}

/** The end of the response: calls of server tools are not the client's to answer. */
function lastChunk({ last, serverCalls, hasOwnCalls, reason }: StepEnd): ChatChunk[] {
  if (last === null) return [];
  if (serverCalls.length === 0 || hasOwnCalls || reason !== 'tool_calls') return [last];
  return [{ ...last, choices: last.choices.map((choice) => ({ ...choice, finish_reason: 'stop' as const })) }];
}

/** What the steps of one response have in common. */
class Loop {
  readonly #run: CallRun;
  readonly #tools: Offer['tools'];
  readonly #stopWhen: Offer['stopWhen'];
  #request: ChatRequest;
  readonly #cancelled = new StopSwitch();
  readonly #executed = new Map<string, number>();
  #requested = 0;
  steps = 0;

  constructor(run: CallRun, { request, stopWhen, tools }: Offer) {
    this.#run = run;
    this.#tools = tools;
    this.#stopWhen = stopWhen;
    this.#request = request;
  }

  readonly isServerTool = (name: string): boolean => this.#tools.has(name);

  cancel(): void {
    this.#cancelled.abort(new Error('Nobody wants the response any more'));
  }

  /** Runs the tools of a step. @returns the request of the next step; null: there is none */
  async after(step: StepEnd): Promise<ChatRequest | null> {
    this.steps++;
    const { serverCalls, hasOwnCalls, reason } = step;
    this.#requested += serverCalls.length;
    // Calls that were cut short cannot be run, and the caller alone can answer its own: the model may call again.
    if (serverCalls.length === 0 || hasOwnCalls || (reason !== 'tool_calls' && reason !== 'stop'))
      return this.#end(null);
    const { total_tokens: tokens, cost } = this.#run.usage();
    const nanoUsd = typeof cost === 'number' ? Math.round(cost * 1e9) : null;
    const calls = serverCalls.map((call) => ({ ...call, function: { ...call.function, name: this.#nameOf(call) } }));
    const stopped = stoppedBy(this.#stopWhen, { steps: this.steps, tokens, nanoUsd, reason, calls });
    if (stopped !== null) return this.#end(stopped);
    const results = await Promise.all(serverCalls.map((call, at) => this.#result(call, at < mostCalls)));
    this.#request = nextRequest(this.#request, step, results);
    return this.#request;
  }

  #end(stoppedBy: string | null): null {
    if (this.#requested > 0) {
      const executed = [...this.#executed.values()].reduce((sum, times) => sum + times, 0);
      this.#run.toolCalls.requested += this.#requested;
      this.#run.toolCalls.executed += executed;
      this.#run.stages.push({
        type: 'server_tools',
        name: 'server-tools',
        summary: `${this.steps} steps, ${executed} calls${stoppedBy === null ? '' : `, stopped by ${stoppedBy}`}`,
        data: {
          mode: 'sdk',
          steps: this.steps,
          calls: Object.fromEntries(this.#executed),
          ...(stoppedBy === null ? {} : { stopped_by: stoppedBy }),
        },
      });
    }
    return null;
  }

  #nameOf({ function: { name } }: ToolCall): string {
    return (this.#tools.get(name) as OfferedTool).tool.name;
  }

  /** @throws GatewayError that the tool throws; the reason of the call's signal */
  async #result(call: ToolCall, mayRun: boolean): Promise<ChatMessage> {
    if (!mayRun) return { role: 'tool', tool_call_id: call.id, content: failure('too many calls at once') };
    const { tool, settings } = this.#tools.get(call.function.name) as OfferedTool;
    const worker = { kind: 'server_tool', name: tool.name, hook: null, callId: call.id } as const;
    const run = () => this.#textOf(tool, settings, call.function.arguments);
    const { text: content } = await followed(this.#run, worker, run, ({ hasFailed }) => hasFailed);
    this.#executed.set(tool.name, (this.#executed.get(tool.name) ?? 0) + 1);
    return { role: 'tool', tool_call_id: call.id, content };
  }

  async #textOf(tool: OfferedTool['tool'], settings: unknown, text: string): Promise<ToolEnd> {
    const args = argumentsOf(text);
    if (args === null) return failed('the arguments are no JSON object');
    const { deps, call } = this.#run;
    const signals = [call.signal, this.#cancelled];
    const limits = { timeoutMs: deps.timeouts.serverToolMs, signals, late: () => new Error('too slow') };
    try {
      const context = { ...this.#run.contextOf({}), settings };
      const text = await withSignal(deps.clock, limits, (signal) => tool.run(args, { ...context, signal }));
      return { text: String(text), hasFailed: false };
    } catch (error) {
      if (isGatewayError(error)) throw error;
      for (const signal of signals) signal.throwIfAborted();
      // What an error says may be nobody's business.
      return failed('the tool failed');
    }
  }
}

/** The conversation goes on with what the model called, and what came of it. A choice of a tool was for the first step. */
function nextRequest(
  request: ChatRequest,
  { message, serverCalls }: StepEnd,
  results: readonly ChatMessage[],
): ChatRequest {
  // Servers differ in whether a message of calls may have an empty text.
  const content = message.content || null;
  const said = { ...message, role: 'assistant' as const, content, tool_calls: [...serverCalls] } as ChatMessage;
  const { tool_choice: choice } = request;
  const isForced = choice !== undefined && choice !== 'none' && choice !== 'auto';
  return {
    ...request,
    messages: [...request.messages, said, ...results],
    ...(isForced ? { tool_choice: 'auto' as const } : {}),
  };
}

/**
 * The model that served a step is asked first in the next one, although it was only a fallback: the conversation goes on
 * as it began, and nobody waits again for a model that has just failed. What a router has chosen, it chooses again
 * (docs/routing.md, "Conversations").
 */
function servedFirst(request: ChatRequest, served: string): ChatRequest {
  const slugs = namedSlugs(request, null);
  const at = slugs.findIndex((slug) => slug === served || splitSuffixes(slug).some(({ base }) => base === served));
  const slug = slugs[at];
  return at > 0 && slug !== undefined ? { ...request, model: slug, models: slugs.toSpliced(at, 1) } : request;
}

/** null: the model wrote something else. */
function argumentsOf(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {};
  try {
    const parsed = parseJson(text, maxArgumentDepth);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** What the model is told of a call, and whether the tool has failed. */
interface ToolEnd {
  text: string;
  hasFailed: boolean;
}

function failed(error: string): ToolEnd {
  return { text: failure(error), hasFailed: true };
}

function failure(error: string): string {
  return JSON.stringify({ error });
}

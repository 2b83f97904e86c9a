import { StopSwitch } from '../../base/async/stop.ts';
import { withSignal } from '../../base/async/within.ts';
import { isGatewayError } from '../../base/errors.ts';
import { type Ask, withRequest } from '../../call/ask.ts';
import type { Generation, GenerationLog, ResponseEnd, StreamedResponse } from '../../call/generation.ts';
import type { WireFormat } from '../../call/native.ts';
import type { SearchRequest } from '../../call/search.ts';
import { chunkFolder, toChunks } from '../../formats/chunks.ts';
import { namedSlugs } from '../../routing/slugs.ts';
import { type PluginVariants, splitSuffixes } from '../../routing/variant.ts';
import type { ChatMessage, ChatRequest, ChatResult, ToolCall } from '../../schema/chat/chat.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import type { CallRun } from '../call/run.ts';
import { generate } from '../generate.ts';
import { followed } from '../hooks/followed.ts';
import { contextOf } from '../hooks/plugin-context.ts';
import type { Offer, OfferedTool } from '../server-tools/offer.ts';
import { checkOffered } from '../server-tools/operator-services.ts';
import { argumentsOf } from './arguments.ts';
import { CallBlocks } from './call-blocks.ts';
import { CallItems, type CallOutcome, type ShownCalls } from './call-items.ts';
import { LoopStage, type OpenUse } from './stage.ts';
import { type StepEnd, StepOutput } from './step-output.ts';
import { mostSteps, stoppedBy } from './stop.ts';

/** The most calls of one step that are run; a model makes fewer, and each takes time of the gateway. */
const mostCalls = 32;

/**
 * Calls the model, runs the server tools that it calls, and calls it again with their results, until it calls none, or
 * functions of the caller. Each step is a generation: planned, held and booked by itself.
 */
export async function respondWithServerTools(run: CallRun, ask: Ask, offer: Offer): Promise<Generation> {
  await checkOffered(run.deps, run.call, offer);
  const loop = new Loop(run, ask, offer);
  const first = await generate(run, ask);
  return first.kind === 'stream' ? streamed(run, loop, first) : complete(run, loop, first);
}

async function complete(run: CallRun, loop: Loop, first: Generation & { kind: 'complete' }): Promise<Generation> {
  const output = new StepOutput(loop.isServerTool);
  const folder = chunkFolder();
  let generation = first;
  for (;;) {
    for (const chunk of toChunks(generation.result)) for (const passed of output.push(chunk)) folder.add(passed);
    const step = output.endStep();
    for (const chunk of loop.begun(step)) folder.add(chunk);
    const next = await loop.after(step, generation.log);
    for (const chunk of loop.ended(step)) folder.add(chunk);
    if (next === null) {
      if (loop.stage.steps === 1 && step.serverCalls.length === 0) return first;
      for (const chunk of lastChunks(step, loop)) folder.add(chunk);
      const result = { ...first.result, ...(folder.result() as ChatResult) };
      return { kind: 'complete', head: first.head, result, log: generation.log };
    }
    generation = (await generate(
      run,
      servedFirst(next, generation.head.model, run.deps.pluginVariants),
    )) as typeof first;
  }
}

function streamed(run: CallRun, loop: Loop, first: Generation & StreamedResponse): Generation {
  const output = new StepOutput(loop.isServerTool);
  let current = first;
  let end: ResponseEnd | null = null;
  /** The step that has ended, whose tools are still to be run. */
  let ended: StepEnd | null = null;
  let hasBegun = false;
  /** The request of the next step. */
  let next: Ask | null = null;

  async function pullNext(): Promise<ChatChunk[]> {
    if (ended !== null) {
      const step = ended;
      const begun = hasBegun ? [] : loop.begun(step);
      hasBegun = true;
      // The client sees the activity of a tool while it runs.
      if (begun.length > 0) return begun;
      ended = null;
      hasBegun = false;
      next = await loop.after(step, current.log);
      const done = loop.ended(step);
      if (next === null) {
        end ??= { kind: 'complete' };
        return [...done, ...lastChunks(step, loop)];
      }
      if (done.length > 0) return done;
    }
    if (next !== null) {
      const ask = next;
      next = null;
      current = (await generate(run, servedFirst(ask, current.head.model, run.deps.pluginVariants))) as typeof first;
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

/**
 * Returns the last chunks of the response: calls of server tools are not the client's to answer. A model that would
 * have gone on without an end has not finished: its response was cut, and the finish reason says so.
 */
function lastChunks(
  { last, serverCalls, hasOwnCalls, reason }: StepEnd,
  { stage: { stopped }, saysSo }: Loop,
): ChatChunk[] {
  if (last === null) return [];
  if (serverCalls.length === 0 || hasOwnCalls || reason !== 'tool_calls') return [last];
  const isCut = stopped === 'steps';
  const finish = isCut
    ? { finish_reason: 'length' as const, native_finish_reason: 'server_tool_steps' }
    : { finish_reason: 'stop' as const };
  const end = { ...last, choices: last.choices.map((choice) => ({ ...choice, ...finish })) };
  if (!isCut || !saysSo) return [end];
  const delta = { content: cutNote };
  return [{ ...last, choices: [{ index: 0, delta, finish_reason: null }] }, end];
}

const cutNote = `\n\n[The response was stopped here: the model called server tools in ${mostSteps} steps without an end.]`;

/** The parts that the steps of one response share. */
class Loop {
  readonly #run: CallRun;
  readonly #tools: Offer['tools'];
  readonly #stopWhen: Offer['stopWhen'];
  #ask: Ask;
  readonly #cancelled = new StopSwitch();
  readonly stage: LoopStage;
  /** The number of calls that may still be run. */
  #callsLeft: number;
  /** true: a sentence may stand in the text of the response. JSON of a schema would no longer be valid with one. */
  readonly saysSo: boolean;
  /** null: the client's wire format has no place for calls of server tools. */
  readonly #items: ShownCalls | null;
  readonly #outcomes = new Map<ToolCall, CallOutcome>();

  constructor(run: CallRun, ask: Ask, { stopWhen, tools }: Offer) {
    this.#run = run;
    this.#tools = tools;
    this.#stopWhen = stopWhen;
    this.#ask = ask;
    this.stage = new LoopStage(run.journal);
    this.#callsLeft = ask.maxToolCalls ?? Number.POSITIVE_INFINITY;
    this.saysSo = (ask.request.response_format?.type ?? 'text') === 'text';
    this.#items = shownCalls(run.call.ask.native?.format, (call) => this.#toolOf(call).tool);
  }

  /** Returns the items of the calls of a step, before they are run. */
  begun({ last, serverCalls }: StepEnd): ChatChunk[] {
    return last === null ? [] : (this.#items?.begun(last, serverCalls.slice(0, mostCalls)) ?? []);
  }

  /** Returns the same items, with the results of the calls. */
  ended({ last, serverCalls }: StepEnd): ChatChunk[] {
    if (last === null || this.#items === null) return [];
    const items = this.#items;
    const chunks = serverCalls.flatMap((call) => items.ended(last, call, this.#outcomes.get(call) ?? null));
    this.#outcomes.clear();
    return chunks;
  }

  readonly isServerTool = (name: string): boolean => this.#tools.has(name);

  cancel(): void {
    this.#cancelled.abort(new Error('Nobody wants the response any more'));
  }

  /** Runs the tools of a step. @returns the request of the next step; null: there is none */
  async after(step: StepEnd, log: GenerationLog): Promise<Ask | null> {
    const { serverCalls, hasOwnCalls, reason } = step;
    this.stage.ended(serverCalls.length);
    // Calls that were cut short cannot be run, and the caller alone can answer its own: the model may call again.
    if (serverCalls.length === 0 || hasOwnCalls || (reason !== 'tool_calls' && reason !== 'stop')) return null;
    // The model was told that it has no calls left.
    if (this.#callsLeft <= 0) return this.#stop('max_tool_calls');
    const { total_tokens: tokens, cost } = this.#run.usage();
    const nanoUsd = typeof cost === 'number' ? Math.round(cost * 1e9) : null;
    const calls = serverCalls.map((call) => ({
      ...call,
      function: { ...call.function, name: this.#toolOf(call).tool.name },
    }));
    const stopped = stoppedBy(this.#stopWhen, { steps: this.stage.steps, tokens, nanoUsd, reason, calls });
    if (stopped !== null) return this.#stop(stopped);
    const results = await Promise.all(serverCalls.map((call, at) => this.#result(call, at < mostCalls, log)));
    this.#ask = withRequest(this.#ask, nextRequest(this.#ask.request, step, results, this.#callsLeft > 0));
    return this.#ask;
  }

  #stop(by: string): null {
    this.stage.stopped = by;
    return null;
  }

  #toolOf({ function: { name } }: ToolCall): OfferedTool {
    return this.#tools.get(name) as OfferedTool;
  }

  /** @throws GatewayError that the tool throws; the reason of the call's signal */
  async #result(call: ToolCall, mayRun: boolean, log: GenerationLog): Promise<ChatMessage> {
    const refuse = (why: string): ChatMessage => ({ role: 'tool', tool_call_id: call.id, content: failure(why) });
    if (!mayRun) return refuse('too many calls at once');
    // The call is counted before it is made, since those of one step run beside each other.
    if (this.#callsLeft-- <= 0) return refuse('no more calls may be made: answer with what is known');
    const { tool, settings } = this.#toolOf(call);
    const worker = { kind: 'server_tool', name: tool.name, hook: null, callId: call.id } as const;
    const run = () => this.#textOf(tool, settings, call.function.arguments, this.stage.runs(tool.name, log));
    const outcome = await followed(this.#run.watch, this.#run.call, worker, run, ({ hasFailed }) => hasFailed);
    const { text: content } = outcome;
    if (this.#items !== null) this.#outcomes.set(call, outcome);
    return { role: 'tool', tool_call_id: call.id, content };
  }

  async #textOf(tool: OfferedTool['tool'], settings: unknown, text: string, use: OpenUse): Promise<CallOutcome> {
    const args = argumentsOf(text);
    if (args === null) return failed('the arguments are no JSON object');
    const { deps, call } = this.#run;
    const signals = [call.signal, this.#cancelled];
    const limits = { timeoutMs: deps.timeouts.serverToolMs, signals, late: () => new Error('too slow') };
    try {
      const context = { ...contextOf(this.#run, this.#ask, ofModel, use), settings };
      const search = async (request: SearchRequest) => {
        const found = await context.search(request);
        use.sources.push(...found.results.map(({ url }) => url));
        return found;
      };
      const text = await withSignal(deps.clock, limits, (signal) => tool.run(args, { ...context, search, signal }));
      return { text: String(text), hasFailed: false };
    } catch (error) {
      if (isGatewayError(error)) throw error;
      for (const signal of signals) signal.throwIfAborted();
      // The text of an error may hold secrets, so the model does not get it.
      return failed('the tool failed');
    }
  }
}

function shownCalls(
  format: WireFormat | undefined,
  toolOf: (call: ToolCall) => OfferedTool['tool'],
): ShownCalls | null {
  if (format === 'responses') return new CallItems(toolOf);
  return format === 'messages' ? new CallBlocks(toolOf) : null;
}

/** The model calls a tool, and no plugin does. */
const ofModel = { plugin: null, spender: 'tools', options: {}, isAsked: true } as const;

/**
 * Returns the next request: the conversation goes on with the calls of the model and their results. A choice of a tool
 * was for the first step.
 * @param mayCall  false: the model may call no tool any more
 */
function nextRequest(
  request: ChatRequest,
  { message, serverCalls }: StepEnd,
  results: readonly ChatMessage[],
  mayCall: boolean,
): ChatRequest {
  // Servers differ in whether a message of calls may have an empty text.
  const content = message.content || null;
  const said = { ...message, role: 'assistant' as const, content, tool_calls: [...serverCalls] } as ChatMessage;
  const { tool_choice: choice } = request;
  const isForced = choice !== undefined && choice !== 'none' && choice !== 'auto';
  return {
    ...request,
    messages: [...request.messages, said, ...results],
    ...(mayCall ? (isForced ? { tool_choice: 'auto' as const } : {}) : { tool_choice: 'none' as const }),
  };
}

/**
 * Puts the model that served a step first in the next one, although it was only a fallback: the conversation goes on as
 * it began, and nobody waits again for a model that has just failed. The choice of a router is made again by the router
 * (docs/routing.md, "Conversations").
 */
function servedFirst(ask: Ask, served: string, ofPlugins: PluginVariants): Ask {
  const { request } = ask;
  const slugs = namedSlugs(request, null);
  const at = slugs.findIndex(
    (slug) => slug === served || splitSuffixes(slug, ofPlugins).some(({ base }) => base === served),
  );
  const slug = slugs[at];
  return at > 0 && slug !== undefined
    ? withRequest(ask, { ...request, model: slug, models: slugs.toSpliced(at, 1) })
    : ask;
}

function failed(error: string): CallOutcome {
  return { text: failure(error), hasFailed: true };
}

function failure(error: string): string {
  return JSON.stringify({ error });
}

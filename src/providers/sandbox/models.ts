import { assist } from './assistant.ts';
import { failure, networkError } from './failure.ts';
import type { Document, Fault, Outcome } from './outcome.ts';
import { Refusal, type SandboxRequest, textOf } from './request.ts';
import { argumentsText, jsonText } from './samples.ts';
import { content, speak, usualMaxCompletionTokens } from './speak.ts';
import { loremText, reasoningText, refusalText } from './texts.ts';

/** The facts that a model gets beside the request. */
export interface Turn {
  /** Numbers the requests of this sandbox, from 1. */
  number: number;
  /** Counts the calls with the same number of failures, from 0. */
  countFlaky(failures: number): number;
}

export interface SandboxModel {
  /** The sandbox's own name of the model; the gateway's slug is `sandbox/<id>`. */
  id: string;
  name: string;
  /** Absent: 4,096 tokens. */
  maxCompletionTokens?: number;
  /** Multiplies the usual price. Default 1. */
  priceFactor?: number;
  /** Request fields that only this model acts on. */
  parameters?: readonly string[];
  /** @throws Refusal */
  perform(request: SandboxRequest, turn: Turn): Outcome;
}

/** The tokens of a large event, of 8 characters each: 1 MiB. */
const largeEventTokens = 131_072;

/** Every model of the sandbox. docs/sandbox.md describes each in one row. */
export const models: readonly SandboxModel[] = [
  {
    id: 'assistant',
    name: 'Assistant',
    parameters: [
      'tools',
      'tool_choice',
      'parallel_tool_calls',
      'response_format',
      'structured_outputs',
      'reasoning',
      'reasoning_effort',
    ],
    perform: assist,
  },
  { id: 'echo', name: 'Echo', perform: (request) => speak(request, () => content(echoText(request))) },
  { id: 'lorem', name: 'Lorem', perform: lorem },
  { id: 'free', name: 'Lorem, free of charge', priceFactor: 0, perform: lorem },
  { id: 'expensive', name: 'Lorem, expensive', priceFactor: 1_000, perform: lorem },
  { id: 'tool-call', name: 'Tool call', parameters: ['tools', 'tool_choice'], perform: callTool },
  {
    id: 'json',
    name: 'JSON',
    parameters: ['response_format', 'structured_outputs'],
    perform: (request) => speak(request, () => content(jsonText(request))),
  },
  {
    id: 'reasoning',
    name: 'Reasoning',
    parameters: ['reasoning', 'reasoning_effort'],
    perform: (request) =>
      speak(request, (choice) => [
        { kind: 'reasoning', text: request.reasons ? reasoningText : '' },
        ...content(loremText(choice, request.options.tokens)),
      ]),
  },
  {
    id: 'refusal',
    name: 'Refusal',
    perform: (request) => speak(request, () => [{ kind: 'refusal', text: refusalText }]),
  },
  {
    id: 'content-filter',
    name: 'Content filter',
    perform: (request) =>
      speak(request, (choice) => content(loremText(choice, request.options.tokens ?? 5)), {
        finishReason: 'content_filter',
      }),
  },
  {
    id: 'no-usage',
    name: 'No usage',
    perform: (request) =>
      speak(request, (choice) => content(loremText(choice, request.options.tokens)), { reportsUsage: false }),
  },
  { id: 'large-event', name: 'Large event', maxCompletionTokens: largeEventTokens, perform: largeEvent },
  {
    id: 'slow',
    name: 'Slow',
    perform: (request) =>
      speak(request, (choice) => content(loremText(choice, request.options.tokens ?? 20)), {
        firstTokenMs: 3_000,
        tokenMs: 200,
      }),
  },
  { id: 'timeout', name: 'Time-out', perform: () => ({ kind: 'silence' }) },
  { id: 'stall', name: 'Stall', perform: faulty('silence') },
  {
    id: 'unreachable',
    name: 'Unreachable',
    perform: () => ({ kind: 'unreachable', error: networkError('The connection was refused') }),
  },
  { id: 'reset', name: 'Connection reset', perform: faulty('reset') },
  { id: 'cut-stream', name: 'Cut stream', perform: faulty('cut') },
  { id: 'error-mid-stream', name: 'Error in the stream', perform: faulty('error') },
  { id: 'error-in-200', name: 'Error with status 200', perform: () => ({ ...fail(500, 'error-in-200'), status: 200 }) },
  { id: 'bad-json', name: 'Malformed JSON', perform: faulty('bad-json', 0) },
  {
    id: 'html',
    name: 'HTML page',
    perform: () =>
      page(
        'text/html',
        '<!doctype html>\n<html><head><title>The sandbox</title></head><body><h1>This is no response</h1></body></html>\n',
      ),
  },
  {
    id: 'empty',
    name: 'Empty response',
    perform: ({ stream }) => page(stream ? 'text/event-stream' : 'application/json', ''),
  },
  { id: 'flaky', name: 'Flaky', perform: flaky },
  {
    id: 'rate-limited',
    name: 'Rate limited',
    perform: ({ options }) => fail(429, 'rate-limited', { retryAfter: options.retry_after ?? 1 }),
  },
  {
    id: 'overloaded',
    name: 'Overloaded',
    perform: ({ options }) => fail(529, 'overloaded', { retryAfter: options.retry_after }),
  },
  {
    id: 'context-length',
    name: 'Context length exceeded',
    perform: () => fail(400, 'context-length', { code: 'context_length_exceeded', param: 'messages' }),
  },
  ...[400, 401, 402, 403, 404, 408, 413, 422, 500, 503].map(
    (status): SandboxModel => ({
      id: `error-${status}`,
      name: `Error ${status}`,
      perform: ({ options }) => fail(status, `error-${status}`, { retryAfter: options.retry_after }),
    }),
  ),
];

/**
 * Finds the model of a request, and lets it perform.
 * @throws Refusal for an unknown model, and for a request that the model cannot fulfil
 */
export function perform(request: SandboxRequest, turn: Turn): Outcome {
  const model = models.find(({ id }) => id === request.model);
  if (!model) {
    throw new Refusal(
      `The sandbox has no model "${request.model.slice(0, 100)}". It has: ${models.map(({ id }) => id).join(', ')}.`,
      { status: 404, param: 'model' },
    );
  }
  const { status, retry_after: retryAfter } = request.options;
  if (status !== undefined)
    return failure(status, `The sandbox responds with ${status} because sandbox.status asks for it.`, { retryAfter });
  const longest = model.maxCompletionTokens ?? usualMaxCompletionTokens;
  return model.perform({ ...request, maxTokens: Math.min(request.maxTokens ?? longest, longest) }, turn);
}

function lorem(request: SandboxRequest): Outcome {
  return speak(request, (choice) => content(loremText(choice, request.options.tokens)));
}

function echoText({ messages }: SandboxRequest): string {
  const last = messages.findLast(({ role }) => role === 'user');
  return (last && textOf(last)) || 'The sandbox found no user text to repeat.';
}

function callTool(request: SandboxRequest, turn: Turn): Outcome {
  const last = request.messages.at(-1);
  if (last?.role === 'tool')
    return speak(request, () => content(`The sandbox called a tool, which returned: ${textOf(last)}`));
  const { tools, toolChoice } = request;
  if (tools.length === 0)
    return speak(request, () => content('The sandbox has no tool to call: the request offers no function.'));
  if (toolChoice === 'none')
    return speak(request, () => content('The sandbox called no tool, because tool_choice is "none".'));
  const tool = typeof toolChoice === 'string' ? tools[0] : tools.find(({ name }) => name === toolChoice.name);
  if (!tool) throw new Refusal('tool_choice: names a function that is not in tools', { param: 'tool_choice' });
  const values = argumentsText(tool);
  return speak(
    request,
    (choice) => [
      { kind: 'call', call: 0, id: `call_sandbox_${turn.number}_${choice}`, name: tool.name },
      { kind: 'arguments', call: 0, text: values },
    ],
    { finishReason: 'tool_calls' },
  );
}

function largeEvent(request: SandboxRequest): Outcome {
  // One choice whatever `n` is: sixteen of this size would burden the process that hosts the sandbox.
  return speak(
    { ...request, choices: 1 },
    () => content(' sandbox'.repeat(request.options.tokens ?? largeEventTokens)),
    { inOneEvent: true },
  );
}

/** A text that breaks before its last token. */
function faulty(kind: Fault['kind'], after = 5): SandboxModel['perform'] {
  return (request) => {
    const afterTokens = request.options.tokens ?? after;
    return speak(request, (choice) => content(loremText(choice, afterTokens + 1)), { fault: { kind, afterTokens } });
  };
}

function flaky(request: SandboxRequest, turn: Turn): Outcome {
  const failures = request.options.failures ?? 1;
  const fails = turn.countFlaky(failures) % (failures + 1) < failures;
  return fails ? fail(503, 'flaky', { retryAfter: request.options.retry_after }) : lorem(request);
}

function fail(status: number, id: string, details: Parameters<typeof failure>[2] = {}): Document {
  return failure(status, `The sandbox responds like this because the model is sandbox/${id}.`, details);
}

function page(type: string, body: string): Document {
  return { kind: 'document', status: 200, headers: { 'content-type': type }, body };
}

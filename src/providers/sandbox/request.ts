import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';

/** The most alternatives that a request may ask for at each token, as at OpenAI. */
export const mostAlternatives = 20;

/** The settings in the top-level field `sandbox` of a request. Times in milliseconds. */
const sandboxOptions = lazily(() =>
  z.strictObject({
    /** Time until the first token; as JSON it is part of the time until the response. */
    first_token_ms: z.int().min(0).max(600_000).optional(),
    /** Time from one token to the next. */
    token_ms: z.int().min(0).max(60_000).optional(),
    /** The number of tokens of a made-up text, or before a fault. */
    tokens: z.int().min(0).max(131_072).optional(),
    /** Any model: fail with this HTTP status instead of answering. */
    status: z.int().min(400).max(599).optional(),
    /** `Retry-After` of a failure, in seconds. */
    retry_after: z.int().min(0).max(86_400).optional(),
    /** `flaky`: the number of failures before it answers once. */
    failures: z.int().min(1).max(9).optional(),
    /** The number of prompt tokens that the usage reports as read from a cache. */
    cached_tokens: z.int().min(0).optional(),
  }),
);

const part = lazily(() => z.looseObject({ type: z.string(), text: z.string().optional() }));
const toolCall = lazily(() =>
  z.looseObject({ function: z.looseObject({ name: z.string(), arguments: z.string() }).optional() }),
);
const message = lazily(() =>
  z.looseObject({
    /** The role of the speaker. */
    role: z.string(),
    /** Name of the participant. */
    name: z.string().optional(),
    /** A text, or parts. */
    content: z.union([z.string(), z.array(part())]).nullish(),
    /** Tools that the assistant has called. */
    tool_calls: z.array(toolCall()).nullish(),
  }),
);
const tool = lazily(() =>
  z.looseObject({
    type: z.string(),
    function: z
      .looseObject({ name: z.string(), description: z.string().nullish(), parameters: z.unknown().optional() })
      .optional(),
  }),
);

const encodeWireRequest = lazily(() =>
  z.looseObject({
    model: z.string(),
    messages: z.array(message()).min(1),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    max_tokens: z.int().min(1).nullish(),
    max_completion_tokens: z.int().min(1).nullish(),
    stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
    n: z.int().min(1).max(16).nullish(),
    tools: z.array(tool()).nullish(),
    tool_choice: z
      .union([z.string(), z.looseObject({ function: z.looseObject({ name: z.string() }).optional() })])
      .nullish(),
    response_format: z
      .looseObject({
        type: z.string(),
        json_schema: z.looseObject({ schema: z.unknown().optional() }).optional(),
      })
      .nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    logprobs: z.boolean().nullish(),
    top_logprobs: z.int().min(0).max(mostAlternatives).nullish(),
    reasoning: z
      .looseObject({ effort: z.string().nullish(), enabled: z.boolean().nullish(), max_tokens: z.int().nullish() })
      .nullish(),
    reasoning_effort: z.string().nullish(),
    sandbox: sandboxOptions().nullish(),
  }),
);

export type SandboxOptions = z.infer<ReturnType<typeof sandboxOptions>>;
export type SandboxMessage = z.infer<ReturnType<typeof message>>;

/** A chat request in the form that the sandbox uses. */
export interface SandboxRequest {
  /** The model, without the leading `sandbox/`. */
  model: string;
  messages: readonly SandboxMessage[];
  stream: boolean;
  includeUsage: boolean;
  /** null: up to the model's own limit. */
  maxTokens: number | null;
  stop: readonly string[];
  choices: number;
  /** The function tools, in the order offered; `parameters` is a JSON schema or undefined. */
  tools: readonly { name: string; description: string; parameters: unknown }[];
  /** The tools as sent, whose text counts as prompt. */
  toolsText: string;
  /** `none`, `auto`, `required`, or the tool that has to be called. */
  toolChoice: string | { name: string };
  /** false: one call at a time. */
  parallelCalls: boolean;
  /** The JSON schema in `response_format`; undefined: there is none. */
  jsonSchema: unknown;
  /** true: the response must be JSON, of any form. */
  wantsJson: boolean;
  /** false: the request switches reasoning off. */
  reasons: boolean;
  /** true: the request asks for reasoning. */
  asksToReason: boolean;
  /** The number of further tokens whose probability each token of the text has beside its own; null: none has any. */
  alternatives: number | null;
  options: SandboxOptions;
}

/** The refusal of a request, which becomes an OpenAI-style error body. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;

  constructor(
    message: string,
    { status = 400, code = null, param = null }: { status?: number; code?: string | null; param?: string | null } = {},
  ) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

/**
 * @param body  the request body as text
 * @throws Refusal (400) naming the first wrong field and what was expected
 */
export function readRequest(body: string): SandboxRequest {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new Refusal('The body is not valid JSON.');
  }
  const parsed = encodeWireRequest().safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const path = issue?.path.join('.') ?? '';
    throw new Refusal(`${path || 'body'}: ${issue?.message ?? 'invalid'}`, { param: path || null });
  }
  const wire = parsed.data;
  const tools = (wire.tools ?? []).flatMap(({ type, function: f }) =>
    type === 'function' && f ? [{ name: f.name, description: f.description ?? '', parameters: f.parameters }] : [],
  );
  const choice = wire.tool_choice;
  const effort = wire.reasoning?.effort ?? wire.reasoning_effort ?? null;
  const reasons = effort !== 'none' && wire.reasoning?.enabled !== false;
  const isAsked = effort !== null || wire.reasoning?.enabled === true || (wire.reasoning?.max_tokens ?? 0) > 0;
  return {
    model: wire.model.replace(/^sandbox\//, ''),
    messages: wire.messages,
    stream: wire.stream ?? false,
    includeUsage: wire.stream_options?.include_usage ?? false,
    maxTokens: wire.max_completion_tokens ?? wire.max_tokens ?? null,
    stop: (typeof wire.stop === 'string' ? [wire.stop] : (wire.stop ?? [])).filter((stop) => stop !== ''),
    choices: wire.n ?? 1,
    tools,
    toolsText: wire.tools && wire.tools.length > 0 ? JSON.stringify(wire.tools) : '',
    toolChoice:
      typeof choice === 'object' && choice?.function ? choice.function : typeof choice === 'string' ? choice : 'auto',
    jsonSchema: wire.response_format?.type === 'json_schema' ? wire.response_format.json_schema?.schema : undefined,
    wantsJson: wire.response_format?.type === 'json_object',
    parallelCalls: wire.parallel_tool_calls !== false,
    reasons,
    asksToReason: reasons && isAsked,
    alternatives: wire.logprobs === true ? (wire.top_logprobs ?? 0) : null,
    options: wire.sandbox ?? {},
  };
}

/** The text of a message, its text parts joined; '' without any. */
export function textOf(message: SandboxMessage): string {
  if (typeof message.content === 'string') return message.content;
  return (message.content ?? []).map((part) => part.text ?? '').join('');
}

import type * as z from 'zod';
import type { Issue } from '../../base/refusal.ts';
import { cleanName, isClean } from '../../base/text/clean-text.ts';
import { isExpectation } from './expectations.ts';
import type { ChatMessage } from './message.ts';
import type { ChatRequest } from './request.ts';
import type { ChatTool, ToolChoice } from './tool.ts';
import { isWebSearch } from './tool.ts';

type ZodIssue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** A failed alternative of a union, or the issues of the value itself. */
interface Finding {
  path: Path;
  /** Completes "expected …". */
  expected?: string;
  /** A complete sentence, instead of `expected`. */
  message?: string;
}

/**
 * Turns zod's issues into paths and messages that may be shown to a caller. zod's own messages are not used: the host
 * app may have set a locale or an error map, and its messages could hold values of the input. For a union, only the
 * alternative closest to the input is reported.
 * @param limit  maximum number of issues; a long body can fail in a million places
 */
export function validationIssues(error: Pick<z.ZodError, 'issues'>, limit = 100): Issue[] {
  const found: Issue[] = [];
  for (const issue of error.issues) {
    for (const finding of explain(issue, [], limit)) {
      if (found.length === limit) return found;
      found.push({
        path: formatPath(finding.path),
        message: finding.message ?? `expected ${finding.expected}`,
      });
    }
  }
  return found;
}

function explain(issue: ZodIssue, above: Path, limit: number): Finding[] {
  const path = [...above, ...issue.path];
  if (isExpectation(issue.message) && issue.code !== 'too_big' && issue.code !== 'too_small') {
    return [{ path, expected: issue.message.replace(/^expected /, '') }];
  }
  switch (issue.code) {
    case 'invalid_type':
      return [{ path, expected: nameType(issue.expected) }];
    case 'invalid_value':
      return [{ path, expected: oneOf(issue.values) }];
    case 'too_big':
      return [
        {
          path,
          expected: `${issue.inclusive === false ? 'less than' : 'at most'} ${amount(issue.maximum, issue.origin)}`,
        },
      ];
    case 'too_small':
      return [
        {
          path,
          expected: `${issue.inclusive === false ? 'more than' : 'at least'} ${amount(issue.minimum, issue.origin)}`,
        },
      ];
    case 'invalid_format':
      return [{ path, expected: `a string of the form ${issue.format === 'regex' ? issue.pattern : issue.format}` }];
    case 'not_multiple_of':
      return [{ path, expected: `a multiple of ${issue.divisor}` }];
    case 'unrecognized_keys':
      return issue.keys
        .slice(0, limit)
        .map((key) => ({ path: [...path, key], message: `unknown key ${quoteKey(key)}` }));
    case 'invalid_key':
      return explainInner(issue.issues, [], limit).map((finding) => ({
        path,
        message: `expected a key of ${finding.expected ?? 'another form'}`,
      }));
    case 'invalid_element':
      return explainInner(issue.issues, path, limit);
    case 'invalid_union':
      return explainUnion(issue, path, limit);
    case 'custom':
      // A schema of the host app, of another library than zod, has its own words.
      if (issue.params?.isWorded === true) return [{ path, message: issue.message }];
      return [{ path, expected: 'another value' }];
  }
}

function explainInner(issues: readonly ZodIssue[], above: Path, limit: number): Finding[] {
  return issues.slice(0, limit).flatMap((issue) => explain(issue, above, limit));
}

function explainUnion(issue: z.core.$ZodIssueInvalidUnion, path: Path, limit: number): Finding[] {
  if (issue.errors.length === 0) {
    const options = ('options' in issue && issue.options) || [];
    return [{ path, expected: options.length === 0 ? 'another value' : oneOf(options) }];
  }
  const least = Math.min(...issue.errors.map(distance));
  const closest = issue.errors
    .filter((issues) => distance(issues) === least)
    // When the `type` does not match, other issues of this alternative mean nothing.
    .map((issues) => (least === 1 ? issues.filter(isAboutType) : issues))
    .map((issues) => explainInner(issues, path, limit));
  return joinExpected(closest) ?? closest[0] ?? [];
}

/** Distance of the input from an alternative. 2: another kind of value; 1: another `type`; 0: faults inside only. */
function distance(issues: readonly ZodIssue[]): number {
  if (issues.some((issue) => issue.path.length === 0 && issue.code !== 'unrecognized_keys' && !isBound(issue)))
    return 2;
  return issues.some(isAboutType) ? 1 : 0;
}

function isAboutType(issue: ZodIssue): boolean {
  return issue.path.length === 1 && issue.path[0] === 'type';
}

/** The value has the right kind, but is too big or too small, such as a list with too many items. */
function isBound(issue: ZodIssue): boolean {
  return issue.code === 'too_big' || issue.code === 'too_small';
}

/** Joins alternatives that all fail at the same path into one finding: "expected string or array". */
function joinExpected(branches: readonly Finding[][]): Finding[] | null {
  const [first, ...rest] = branches.map((findings) => findings[0]);
  if (first === undefined || branches.some((findings) => findings.length !== 1)) return null;
  const path = formatPath(first.path);
  if (rest.some((finding) => finding === undefined || formatPath(finding.path) !== path)) return null;
  const texts = [first, ...rest].map((finding) => finding?.expected ?? finding?.message?.replace(/^expected /, ''));
  return [{ path: first.path, expected: [...new Set(texts)].join(' or ') }];
}

function nameType(expected: string): string {
  if (expected === 'int') return 'integer';
  if (expected === 'record') return 'object';
  return expected === 'nonoptional' ? 'a value' : expected;
}

function amount(bound: number | bigint, origin: string): string {
  if (origin === 'string') return `${bound} character${bound === 1 ? '' : 's'}`;
  if (origin === 'array' || origin === 'set') return `${bound} item${bound === 1 ? '' : 's'}`;
  if (origin === 'object' || origin === 'record') return `${bound} key${bound === 1 ? '' : 's'}`;
  return String(bound);
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value)));
  return texts.length > 1 ? `one of ${texts.join(', ')}` : (texts[0] ?? 'another value');
}

function formatPath(path: Path): string {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else if (/^[A-Za-z_$][\w$-]{0,63}$/.test(String(key))) text += text === '' ? String(key) : `.${String(key)}`;
    else text += `[${quoteKey(String(key))}]`;
  }
  return text;
}

/** Quotes a caller's key or id, shortened and without control characters. */
export function quoteKey(key: string): string {
  const quoted = JSON.stringify(key.length > 64 ? `${key.slice(0, 63)}…` : key);
  return isClean(quoted) ? quoted : cleanName(quoted);
}

/**
 * Finds contradictions in a well-formed request; the caller gets status 422.
 * - `reasoning_effort` differs from `reasoning.effort` (null counts as absent).
 * - A tool message responds to a call that no earlier assistant message made.
 * - `tool_choice` forces a tool that is not in `tools`: a function, a server tool or a hosted tool.
 * @param limit  maximum number of issues
 * @see interface document, "reasoning_effort"; rulings, "Statuses"
 */
export function contradictions(request: ChatRequest, limit = 100): Issue[] {
  const issues: Issue[] = [];
  const inner = request.reasoning?.effort ?? null;
  const outer = request.reasoning_effort ?? null;
  if (inner !== null && outer !== null && inner !== outer) {
    issues.push({ path: 'reasoning_effort', message: 'must not differ from reasoning.effort; send one of the two' });
  }
  let called: Set<string> | null = null;
  for (let index = 0; index < request.messages.length; index++) {
    if (issues.length >= limit) return issues;
    const message = request.messages[index] as ChatMessage;
    if (message.role === 'assistant') {
      if (!message.tool_calls) continue;
      called ??= new Set();
      for (const call of message.tool_calls) called.add(call.id);
    } else if (message.role === 'tool' && !called?.has(message.tool_call_id)) {
      issues.push({
        path: `messages[${index}].tool_call_id`,
        message: 'matches no tool call of an earlier assistant message',
      });
    }
  }
  if (typeof request.tool_choice === 'object') {
    for (const path of unofferedTools(request.tool_choice, request.tools, limit - issues.length))
      issues.push({ path, message: 'names a tool that is not in tools' });
  }
  return issues;
}

const none: readonly Issue[] = [];

/** Finds a choice of tools that a well-formed request gives nothing to choose from; the caller gets status 400. */
export function missingTools({ tools, tool_choice: choice }: ChatRequest): readonly Issue[] {
  if (choice !== 'required' || (tools && tools.length > 0)) return none;
  return [{ path: 'tool_choice', message: '"required" needs at least one tool in tools' }];
}

/** A choice that names tools. */
type NamingChoice = Exclude<ToolChoice, string>;

/**
 * Finds the tools that a request chooses and does not offer.
 * @param tools  the tools of the request
 * @returns      their places, such as `tool_choice.type`; at most `limit` of them
 */
function unofferedTools(choice: NamingChoice, tools: readonly ChatTool[] | undefined, limit: number): string[] {
  const offered = new Set(tools?.map(nameOf));
  const paths: string[] = [];
  for (const { path, tool } of toolsIn(choice)) {
    if (paths.length >= limit) return paths;
    if (!offered.has(nameOf(tool))) paths.push(path);
  }
  return paths;
}

/** OpenAI's `allowed_tools` names several tools; every other choice names one. */
function* toolsIn(choice: NamingChoice): Generator<{ path: string; tool: Record<string, unknown> }> {
  if (choice.type !== 'allowed_tools') {
    yield { path: choice.type === 'function' ? 'tool_choice.function.name' : 'tool_choice.type', tool: choice };
    return;
  }
  const path = choice.allowed_tools === undefined ? 'tool_choice' : 'tool_choice.allowed_tools';
  const { tools } = Object(choice.allowed_tools ?? choice);
  if (!Array.isArray(tools)) return;
  for (const [at, tool] of tools.entries()) yield { path: `${path}.tools[${at}]`, tool: Object(tool) };
}

/** Returns the same name for all ways to write a tool. */
function nameOf(tool: ChatTool | Record<string, unknown>): string {
  if (tool.type === 'function') return `function ${Object(tool.function).name}`;
  // The prefix of a server tool is `service` or the operator's brand.
  const type = String(tool.type).replace(/^[^:]*:/, '');
  // All types of web search are short forms of one server tool.
  return isWebSearch(type) ? 'web_search' : type;
}

import type { Issue } from '../../base/refusal.ts';
import type { TextCompletionRequest } from './request.ts';

const inChat = 'send it to /chat/completions';

/** Fields that a text completion has no place for, with the fault that a caller reads. */
const misplaced: Readonly<Record<string, string>> = {
  messages: `expected no messages, but a prompt; or ${inChat}`,
  tools: `a text completion calls no tools; ${inChat}`,
  tool_choice: `a text completion calls no tools; ${inChat}`,
  parallel_tool_calls: `a text completion calls no tools; ${inChat}`,
  functions: `a text completion calls no functions; ${inChat}`,
  function_call: `a text completion calls no functions; ${inChat}`,
  stop_server_tools_when: `a text completion has no tools of its own; ${inChat}`,
  modalities: `a text completion is a text alone; ${inChat}`,
  audio: `a text completion is a text alone; ${inChat}`,
  image_config: `a text completion is a text alone; ${inChat}`,
  top_logprobs: 'expected the number in logprobs',
};

/**
 * Finds what the schema of a text completion does not say: the caller gets status 400.
 * @param mostPrompts  the option `limits.completionPrompts`
 */
export function textCompletionIssues(request: TextCompletionRequest, mostPrompts: number): readonly Issue[] {
  const { suffix, echo, n, best_of: bestOf, logprobs } = request;
  const issues: Issue[] = [];
  const add = (path: string, message: string) => issues.push({ path, message });
  for (const [name, message] of Object.entries(misplaced))
    if (request[name] !== undefined && request[name] !== null) add(name, message);
  const prompts = promptsOf(request);
  if (prompts.length === 0) add('prompt', 'expected at least 1 text');
  if (prompts.length > mostPrompts) add('prompt', `expected at most ${mostPrompts} texts`);
  const empty = isSet(suffix) ? -1 : prompts.indexOf('');
  if (empty >= 0) add(prompts.length > 1 ? `prompt[${empty}]` : 'prompt', 'expected a text that is not empty');
  if (isSet(bestOf) && bestOf !== (n ?? 1))
    add('best_of', 'expected the same number as n: nothing tells which text of a chat model is the best');
  if (echo === true && isSet(logprobs))
    add('echo', 'must not come with logprobs: chat models give none for the prompt');
  if (echo === true && isSet(suffix)) add('echo', 'must not come with suffix');
  return issues;
}

/** The prompts of a request. */
export function promptsOf({ prompt }: Pick<TextCompletionRequest, 'prompt'>): readonly string[] {
  return typeof prompt === 'string' ? [prompt] : prompt;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

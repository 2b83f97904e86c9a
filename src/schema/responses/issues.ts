import type { Issue } from '../../base/refusal.ts';
import { isCommand, isHostedItem, isRefusedTool } from './hosted.ts';
import { type InputItem, isMessageItem } from './items.ts';
import type { ResponsesRequest } from './request.ts';
import { isKnownTool, type ResponsesTool } from './tools.ts';

/** A body of a million faults is refused for the first of them. */
const mostIssues = 100;

/** Fields that are refused where nothing is stored, each with what to do instead. */
const keepingNothing: Readonly<Record<string, string>> = {
  store: 'this operation is stateless and stores no response; leave store out, or send false',
  previous_response_id: 'this operation is stateless; send the items of the earlier responses in input',
  conversation: 'this operation is stateless; send the items of the conversation in input',
};

/** Fields that name what is never stored. */
const stateless: Readonly<Record<string, string>> = {
  prompt: 'this operation stores no prompts; send the text in instructions or in input',
  background: 'this operation is stateless and runs nothing in the background; leave background out, or send false',
};

/** Fields of a chat request that have another name here. They would act twice, or not as the caller means. */
const otherNames: Readonly<Record<string, string>> = {
  messages: 'send the conversation in input',
  max_tokens: 'send max_output_tokens',
  max_completion_tokens: 'send max_output_tokens',
  response_format: 'send text.format',
  verbosity: 'send text.verbosity',
  reasoning_effort: 'send reasoning.effort',
  logprobs: 'send "message.output_text.logprobs" in include',
  functions: 'send tools',
  function_call: 'send tool_choice',
  n: 'a response has one output; leave n out',
  best_of: 'a response has one output; leave best_of out',
  audio: 'a response has no sound; leave audio out, or use chat completions',
};

/**
 * Finds what the schema of a Responses request does not say: the caller gets status 400.
 * @param keepsResponses  true: the gateway keeps responses, so a request may ask for it, and may name one
 */
export function responsesIssues(request: ResponsesRequest, keepsResponses = false): readonly Issue[] {
  const issues: Issue[] = [];
  const add = (path: string, message: string): void => {
    if (issues.length < mostIssues) issues.push({ path, message });
  };
  const refused = keepsResponses ? stateless : { ...keepingNothing, ...stateless };
  for (const [name, message] of Object.entries(refused)) if (isAsked(request[name])) add(name, message);
  for (const [name, message] of Object.entries(otherNames)) if (isAsked(request[name])) add(name, message);
  if (keepsResponses && isAsked(request.conversation) && isAsked(request.previous_response_id))
    add('conversation', 'goes on from another place than previous_response_id; send one of the two');
  addToolIssues(request.tools ?? [], 'tools', add);
  if (typeof request.input !== 'string' && !addItemIssues(request.input, 'input', add))
    add('input', 'expected at least one item that says something to the model, such as a message');
  addChoiceIssues(request, add);
  return issues;
}

/** null and false ask for nothing. */
function isAsked(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

/** Items that say nothing by themselves. */
const silentTypes: ReadonlySet<unknown> = new Set(['additional_tools', 'item_reference']);

type Add = (path: string, message: string) => void;

/**
 * Finds what the schema of items that are added to a conversation does not say: the caller gets status 400.
 * @param name  the field that holds them
 */
export function conversationItemIssues(items: readonly InputItem[], name: string): readonly Issue[] {
  const issues: Issue[] = [];
  const add: Add = (path, message) => {
    if (issues.length < mostIssues) issues.push({ path, message });
  };
  for (const [at, { type }] of items.entries())
    if (isCommand(type)) add(`${name}[${at}].type`, `"${type}" is for the input of a response; it cannot be kept`);
  addItemIssues(items, name, add);
  return issues;
}

/** @returns true: an item says something to the model */
function addItemIssues(input: readonly InputItem[], name: string, add: Add): boolean {
  let says = false;
  for (const [at, item] of input.entries()) {
    const path = `${name}[${at}]`;
    if (item.type === 'item_reference')
      add(
        `${path}.type`,
        '"item_reference" names a stored item, and this operation is stateless; send the item itself',
      );
    if (item.type === 'additional_tools' || item.type === 'tool_search_output')
      addToolIssues((item as { tools: readonly ResponsesTool[] }).tools, `${path}.tools`, add);
    else if (item.type === 'local_shell_call' || item.type === 'local_shell_call_output') {
      if (!item.call_id && !item.id) add(`${path}.call_id`, 'expected string');
    }
    says ||= isMessageItem(item) || isCommand(item.type) || !(silentTypes.has(item.type) || isHostedItem(item.type));
  }
  return says;
}

const taken = 'another tool has this name';

/** Adds a name. @returns false: it was there */
function isNew(names: Set<string>, name: string): boolean {
  const { size } = names;
  return names.add(name).size > size;
}

function addToolIssues(tools: readonly ResponsesTool[], path: string, add: Add): void {
  const names = new Set<string>();
  const inNamespaces = new Map<string, Set<string>>();
  for (const [at, tool] of tools.entries()) {
    const place = `${path}[${at}]`;
    if (isRefusedTool(tool.type))
      add(`${place}.type`, `"${tool.type}" is a tool that this operation does not run; offer a function instead`);
    if (!isKnownTool(tool)) continue;
    if ((tool.type === 'function' || tool.type === 'custom') && !isNew(names, tool.name)) add(`${place}.name`, taken);
    if (tool.type !== 'namespace') continue;
    const members = inNamespaces.get(tool.name) ?? new Set<string>();
    inNamespaces.set(tool.name, members);
    for (let within = 0; within < tool.tools.length; within++)
      if (!isNew(members, tool.tools[within]?.name as string)) add(`${place}.tools[${within}].name`, taken);
  }
}

function addChoiceIssues({ tool_choice: choice, tools, input }: ResponsesRequest, add: Add): void {
  if (choice === 'required') {
    if (!hasTools(tools) && !(typeof input !== 'string' && input.some(({ tools: more }) => hasTools(more))))
      add('tool_choice', '"required" needs at least one tool in tools');
  } else if (typeof choice === 'object' && choice !== null && isRefusedTool(choice.type))
    add('tool_choice.type', `"${choice.type}" is a tool that this operation does not run`);
}

/** Tells whether a list holds a tool. A group without members is none. */
function hasTools(list: unknown): boolean {
  return (
    Array.isArray(list) &&
    (list as readonly ResponsesTool[]).some(
      (tool) => !isKnownTool(tool) || tool.type !== 'namespace' || tool.tools.length > 0,
    )
  );
}

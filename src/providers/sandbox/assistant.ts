import { literalReply, wantsSeveralCalls, wantsTheTool } from './asked-for.ts';
import type { Outcome, Token } from './outcome.ts';
import { Refusal, type SandboxRequest, textOf } from './request.ts';
import { argumentsText, jsonText } from './samples.ts';
import { content, speak } from './speak.ts';
import { reasoningText } from './texts.ts';

type Tool = SandboxRequest['tools'][number];

/** The most characters of the user's text that are repeated. */
const quotedChars = 200;
/** The most calls at once. */
const mostCalls = 4;

/**
 * Acts like an ordinary model: answers, calls the tools that the text asks for or that fit, uses their results, writes
 * JSON, and thinks when the request asks for it. The same request gets the same response.
 * @param turn  its number makes the ids of calls
 */
export function assist(request: SandboxRequest, { number }: { number: number }): Outcome {
  const thoughts: Token[] = request.asksToReason ? [{ kind: 'reasoning', text: reasoningText }] : [];
  const called = calledTools(request);
  const said = lastSaid(request);
  if (called.length > 0)
    return speak(
      request,
      (choice) => [
        ...thoughts,
        ...called.flatMap((tool, call) => callOf(tool, call, `${number}_${choice}_${call}`, said)),
      ],
      { finishReason: 'tool_calls' },
    );
  return speak(request, (choice) => [...thoughts, ...content(answerText(request, choice))]);
}

/** The last text of the user; '' if another message came since. */
function lastSaid({ messages }: SandboxRequest): string {
  const last = messages.at(-1);
  return last?.role === 'user' ? textOf(last) : '';
}

function callOf(tool: Tool, call: number, id: string, said: string): Token[] {
  return [
    { kind: 'call', call, id: `call_sandbox_${id}`, name: tool.name },
    { kind: 'arguments', call, text: argumentsText(tool, said) },
  ];
}

/** @throws Refusal for a choice that names no tool of the request */
function calledTools(request: SandboxRequest): readonly Tool[] {
  const { tools, toolChoice, parallelCalls } = request;
  if (typeof toolChoice === 'object') {
    const named = tools.find(({ name }) => name === toolChoice.name);
    if (!named) throw new Refusal('tool_choice: names a function that is not in tools', { param: 'tool_choice' });
    return [named];
  }
  if (toolChoice === 'none' || tools.length === 0) return [];
  const said = lastSaid(request);
  const fitting = fittingTools(tools, said);
  const called = toolChoice === 'required' && fitting.length === 0 ? tools.slice(0, 1) : fitting;
  const all = called.length === 1 && wantsSeveralCalls(said) ? [...called, ...called] : called;
  return all.slice(0, parallelCalls ? mostCalls : 1);
}

/** Tools with a word of the text in their name, else the first with two words of it in its description. */
function fittingTools(tools: readonly Tool[], text: string): readonly Tool[] {
  const said = new Set(wordsOf(text));
  if (said.size === 0) return [];
  const named = tools.filter(({ name }) => tellingWords(name).some((word) => said.has(word)));
  if (named.length > 0) return named;
  const [only, ...others] = tools;
  if (only !== undefined && others.length === 0 && wantsTheTool(text)) return [only];
  return tools
    .filter(({ description }) => new Set(tellingWords(description).filter((word) => said.has(word))).size >= 2)
    .slice(0, 1);
}

/** Words that tell nothing about the purpose of a tool. */
const general: ReadonlySet<string> = new Set(
  'the and for with that this from what are you can get set has have its all any use used returns return given tool function call run make'.split(
    ' ',
  ),
);

function tellingWords(text: string): string[] {
  return wordsOf(text).filter((word) => !general.has(word));
}

/** The words of a text in lower case, of at least three letters. `getWeather` has two words. */
function wordsOf(text: string): string[] {
  const apart = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase();
  return apart.match(/[\p{L}\p{N}]{3,}/gu) ?? [];
}

function answerText(request: SandboxRequest, choice: number): string {
  if (request.jsonSchema !== undefined || request.wantsJson) return jsonText(request);
  const results = resultsIn(request);
  const further = choice === 0 ? '' : ` This is choice ${choice + 1}.`;
  if (results !== '') return `This is the sandbox. The tool returned: ${results}${further}`;
  const last = request.messages.findLast(({ role }) => role === 'user');
  const literal = (last && literalReply(textOf(last))) ?? literalReply(instructionsOf(request));
  if (literal !== null) return `${literal}${further}`;
  const said = last ? textOf(last).slice(0, quotedChars).toWellFormed() : '';
  const parts = Array.isArray(last?.content) ? last.content.filter(({ text }) => text === undefined).length : 0;
  const seen = parts === 0 ? '' : ` Your message has ${parts} ${parts === 1 ? 'part' : 'parts'} beside its text.`;
  return `This is the sandbox: no model wrote this text. You said: ${said}${seen}${further}`;
}

function instructionsOf({ messages }: SandboxRequest): string {
  return messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map((message) => textOf(message))
    .join('\n');
}

/** The results of the latest tool calls; '' if another message came since. */
function resultsIn({ messages }: SandboxRequest): string {
  const first = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
  return messages
    .slice(first)
    .map((message) => textOf(message))
    .join('; ');
}

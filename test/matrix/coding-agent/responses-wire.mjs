// How the model of task.mjs reads and writes Responses.
import { compactionItem } from './task.mjs';

/** What a body of POST /responses tells the model; see `answerTo`. */
export function readResponses({ input, tools = [] }) {
  const added = input.filter(({ type }) => type === 'additional_tools').flatMap((item) => item.tools);
  return {
    tools: [...tools, ...added].flatMap((tool) => (tool.type === 'namespace' ? membersOf(tool) : [tool])),
    texts: input.filter(({ role }) => role !== 'assistant').map(textIn),
    thoughts: input.filter(({ type }) => type === 'reasoning').map((item) => openThought(item)),
    hasCalls: input.some(({ type }) => type.endsWith('_call')),
  };
}

function textIn({ type, content, output, encrypted_content: sealed }) {
  if (type === 'compaction_trigger') return compactionItem;
  return type === 'compaction' ? sealed : textOf(content ?? output);
}

const membersOf = ({ name: namespace, tools }) => tools.map((tool) => ({ ...tool, namespace }));

function textOf(content) {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text }) => text ?? '').join('\n');
}

/** Thoughts go out encrypted, and have to come back as they went. */
const sealThought = (text) => Buffer.from(`sealed: ${text}`).toString('base64');
function openThought({ encrypted_content: sealed }) {
  const text = Buffer.from(sealed ?? '', 'base64').toString();
  return text.startsWith('sealed: ') ? text.slice('sealed: '.length) : `not what was sealed: ${sealed}`;
}

/**
 * The events of a streamed response.
 * @param id           no other response has it
 * @param inputTokens  of the prompt
 */
export function responsesEvents({ step, reasoning, text, calls }, { id, model, inputTokens }) {
  const items = [
    ...(reasoning === null ? [] : [thoughtOf(reasoning, id)]),
    ...(text === '' ? [] : [step === 'compact to an item' ? compactionOf(text, id) : messageOf(text, id)]),
    ...calls.map((call, at) => callOf(call, `${id}_${at}`)),
  ];
  const response = { ...emptyResponse, id: `resp_${id}`, model };
  const output = items.map(({ item }) => item);
  const events = [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
    ...items.flatMap(({ start, item, events = [] }, at) => [
      { type: 'response.output_item.added', output_index: at, item: start },
      ...events.map((event) => ({ ...event, item_id: item.id, output_index: at })),
      { type: 'response.output_item.done', output_index: at, item },
    ]),
    { type: 'response.completed', response: { ...response, status: 'completed', output, usage: usageOf(inputTokens) } },
  ];
  return events.map((event, at) => ({ ...event, sequence_number: at }));
}

const usageOf = (inputTokens) => ({
  input_tokens: inputTokens,
  input_tokens_details: { cached_tokens: 100 },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 8 },
  total_tokens: inputTokens + 40,
});
const emptyResponse = {
  object: 'response',
  created_at: 1_795_000_000,
  status: 'in_progress',
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  output: [],
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
};

function thoughtOf(text, id) {
  const item = { id: `rs_${id}`, type: 'reasoning', summary: [{ type: 'summary_text', text }] };
  const place = { summary_index: 0 };
  return {
    start: { ...item, summary: [] },
    item: { ...item, encrypted_content: sealThought(text) },
    events: [
      { type: 'response.reasoning_summary_part.added', ...place, part: { type: 'summary_text', text: '' } },
      ...piecesOf(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...place, delta })),
      { type: 'response.reasoning_summary_text.done', ...place, text },
      { type: 'response.reasoning_summary_part.done', ...place, part: item.summary[0] },
    ],
  };
}

function messageOf(text, id) {
  const item = { id: `msg_${id}`, type: 'message', role: 'assistant', status: 'completed' };
  const part = { type: 'output_text', annotations: [], logprobs: [], text };
  const place = { content_index: 0 };
  return {
    start: { ...item, status: 'in_progress', content: [] },
    item: { ...item, content: [part] },
    events: [
      { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
      ...piecesOf(text).map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
      { type: 'response.output_text.done', ...place, text, logprobs: [] },
      { type: 'response.content_part.done', ...place, part },
    ],
  };
}

function callOf({ tool, input }, id) {
  const isCustom = tool.type === 'custom';
  const field = isCustom ? 'input' : 'arguments';
  const text = isCustom ? input : JSON.stringify(input);
  const item = {
    id: `${isCustom ? 'ctc' : 'fc'}_${id}`,
    type: isCustom ? 'custom_tool_call' : 'function_call',
    status: 'completed',
    call_id: `call_${id}`,
    name: tool.name,
    ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
    [field]: text,
  };
  const type = isCustom ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
  return {
    start: { ...item, status: 'in_progress', [field]: '' },
    item,
    events: [
      ...piecesOf(text).map((delta) => ({ type: `${type}.delta`, delta })),
      { type: `${type}.done`, ...(isCustom ? {} : { name: tool.name }), [field]: text },
    ],
  };
}

function compactionOf(text, id) {
  const item = { id: `cmp_${id}`, type: 'compaction', encrypted_content: text };
  return { start: item, item };
}

/** Pieces as small as tokens; a cut may be within a character that has two halves. */
export const piecesOf = (text) => text.match(/[\s\S]{1,7}/g) ?? [];

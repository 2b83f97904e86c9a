// A model that speaks Responses.
import { openai } from './chat.mjs';
import { openThought, pairProblems, piecesOf, sealThought, textOf } from './text.mjs';

export const responses = {
  provider: { dialect: 'openai-responses', quirks: { encryptedReasoning: true, compacts: true } },
  model: 'scripted-1',
  path: () => '/v1/responses',
  isStream: ({ body }) => body.stream === true,
  read: readResponses,
  events: responsesEvents,
  whole: wholeResponse,
  ...openai,
};

/** The text that stands for the item with which an agent leaves the compaction to the service behind it. */
export const compactionItem = '(compaction item)';

/** What a body of POST /responses tells the model. */
function readResponses({ instructions = '', input, tools = [] }) {
  const added = input.filter(({ type }) => type === 'additional_tools').flatMap((item) => item.tools);
  return {
    tools: [...tools, ...added].flatMap((tool) => (tool.type === 'namespace' ? membersOf(tool) : [tool])),
    texts: [instructions ?? '', ...input.filter(({ role }) => role !== 'assistant').map(textIn)],
    thoughts: input
      .filter(({ type }) => type === 'reasoning')
      .map((item) => openThought('responses', item.encrypted_content)),
    results: input.filter(({ type = 'message' }) => type.endsWith('_output')).length,
    hasCalls: input.some(({ type = 'message' }) => type.endsWith('_call')),
    problems: orderProblems(input),
  };
}

/** Outputs stand behind all calls of a turn, and before whatever is not a call. */
function orderProblems(input) {
  const problems = [];
  let calls = [];
  let outputs = [];
  for (const { type = 'message', call_id: id } of [...input, {}]) {
    if (type.endsWith('_output')) {
      outputs.push(id);
      continue;
    }
    if (outputs.length > 0 || !type.endsWith('_call')) {
      problems.push(...pairProblems(calls, outputs));
      calls = [];
      outputs = [];
    }
    if (type.endsWith('_call')) calls.push(id);
  }
  return problems;
}

function textIn({ type, content, output, encrypted_content: sealed }) {
  if (type === 'compaction_trigger') return compactionItem;
  return type === 'compaction' ? sealed : textOf(content ?? output);
}

const membersOf = ({ name: namespace, tools }) => tools.map((tool) => ({ ...tool, namespace }));

function partsOf({ step, reasoning, text, calls }, { id, model, inputTokens }) {
  const items = [
    ...(reasoning === null ? [] : [thoughtOf(reasoning, id)]),
    ...(text === '' ? [] : [step === 'compact to an item' ? compactionOf(text, id) : messageOf(text, id)]),
    ...calls.map((call, at) => callOf(call, `${id}_${at}`)),
  ];
  const response = { ...emptyResponse, id: `resp_${id}`, model };
  const output = items.map(({ item }) => item);
  return { items, response, whole: { ...response, status: 'completed', output, usage: usageOf(inputTokens) } };
}

function wholeResponse(answer, head) {
  return partsOf(answer, head).whole;
}

/** The events of a streamed response. */
function responsesEvents(answer, head) {
  const { items, response, whole } = partsOf(answer, head);
  const events = [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
    ...items.flatMap(({ start, item, events = [] }, at) => [
      { type: 'response.output_item.added', output_index: at, item: start },
      ...events.map((event) => ({ ...event, item_id: item.id, output_index: at })),
      { type: 'response.output_item.done', output_index: at, item },
    ]),
    { type: 'response.completed', response: whole },
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
    item: { ...item, encrypted_content: sealThought('responses', text) },
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

// A model that speaks Anthropic's messages.
import { argumentsOf, claude, openThought, pairProblems, piecesOf, sealThought } from './text.mjs';

export const anthropic = {
  provider: { dialect: 'anthropic-messages', quirks: { thinking: 'adaptive' } },
  model: 'scripted-1',
  path: () => '/v1/messages',
  count: { path: '/v1/messages/count_tokens', body: (tokens) => ({ input_tokens: tokens }) },
  isStream: ({ body }) => body.stream === true,
  read: readAnthropic,
  events: anthropicEvents,
  whole: anthropicMessage,
  full: { type: 'invalid_request_error', message: 'prompt is too long: 131072 tokens > 128000 maximum' },
  limited: { type: 'rate_limit_error', message: 'Number of requests has exceeded your rate limit' },
  overloaded: [529, { type: 'overloaded_error', message: 'Overloaded' }],
  last: '',
};

/** What a body of POST /messages tells the model. */
function readAnthropic({ system = [], messages, tools = [] }) {
  const blocks = messages.flatMap(({ role, content }) => blocksOf(content).map((block) => ({ role, ...block })));
  return {
    tools,
    texts: [...blocksOf(system), ...blocks.filter(({ role }) => role !== 'assistant')].map(textIn),
    // The signature goes with the thought, and has to come back as it went.
    thoughts: blocks
      .filter(({ type }) => type === 'thinking')
      .map(({ thinking, signature }) => {
        const signed = openThought(claude, signature);
        // Empty: the client has asked for the signature alone.
        return thinking === '' || signed === thinking ? signed : `not signed: ${thinking}`;
      }),
    results: blocks.filter(({ type }) => type === 'tool_result').length,
    hasCalls: blocks.some(({ type }) => type === 'tool_use'),
    problems: [...turnProblems(messages), ...blocks.flatMap(blockProblems)],
  };
}

const blocksOf = (content) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content);

function textIn({ text, content }) {
  return text ?? (typeof content === 'string' ? content : (content ?? []).map((one) => one.text ?? '').join('\n'));
}

/** Neighbours of one role are one turn. */
function turnsOf(messages) {
  const turns = [];
  for (const { role, content } of messages) {
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocksOf(content));
    else turns.push({ role, blocks: [...blocksOf(content)] });
  }
  return turns;
}

function turnProblems(messages) {
  const problems = messages[0]?.role === 'user' ? [] : ['the first message is not of the user'];
  let calls = [];
  for (const { role, blocks } of turnsOf(messages)) {
    if (role === 'system') {
      if (calls.length > 0) problems.push('a system message stands between calls and their results');
      continue;
    }
    const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => block.tool_use_id);
    problems.push(...pairProblems(calls, results));
    if (blocks.slice(0, results.length).some(({ type }) => type !== 'tool_result'))
      problems.push('results are not first in their turn');
    calls = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
    if (calls.length > 0 && blocks[0].type !== 'thinking') problems.push('a turn with calls begins without a thought');
  }
  return problems;
}

function blockProblems({ type, text, id, tool_use_id: resultOf }) {
  if (type === 'text' && (text ?? '').trim() === '') return ['a text block is empty'];
  const named = id ?? resultOf;
  return named === undefined || /^[a-zA-Z0-9_-]+$/.test(named) ? [] : [`the id ${named} is not legal`];
}

const usageOf = (inputTokens) => ({
  input_tokens: inputTokens - 100,
  cache_read_input_tokens: 100,
  cache_creation_input_tokens: 0,
});

function anthropicMessage({ reasoning, text, calls }, { id, model, inputTokens }) {
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(reasoning === null
        ? []
        : [{ type: 'thinking', thinking: reasoning, signature: sealThought(claude, reasoning) }]),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map(({ tool: { name }, input }, at) => {
        return { type: 'tool_use', id: `toolu_${id}_${at}`, name, input: argumentsOf(input) };
      }),
    ],
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { ...usageOf(inputTokens), output_tokens: 40, output_tokens_details: { thinking_tokens: 8 } },
  };
}

/** The events of a streamed message. */
function anthropicEvents(answer, head) {
  const { content, stop_reason, stop_sequence, usage, ...message } = anthropicMessage(answer, head);
  const begun = { stop_reason: null, stop_sequence: null, usage: { ...usageOf(head.inputTokens), output_tokens: 1 } };
  return [
    { type: 'message_start', message: { ...message, content: [], ...begun } },
    { type: 'ping' },
    ...content
      .map(pieced)
      .flatMap(({ start, deltas }, index) => [
        { type: 'content_block_start', index, content_block: start },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence },
      usage: { output_tokens: usage.output_tokens, output_tokens_details: usage.output_tokens_details },
    },
    { type: 'message_stop' },
  ];
}

/** How a block begins, and what is added to it. */
function pieced(block) {
  const deltas = (type, field, text) => piecesOf(text).map((piece) => ({ type, [field]: piece }));
  if (block.type === 'text') return { start: { ...block, text: '' }, deltas: deltas('text_delta', 'text', block.text) };
  if (block.type === 'tool_use') {
    const json = JSON.stringify(block.input);
    return { start: { ...block, input: {} }, deltas: deltas('input_json_delta', 'partial_json', json) };
  }
  return {
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...deltas('thinking_delta', 'thinking', block.thinking),
      { type: 'signature_delta', signature: block.signature },
    ],
  };
}

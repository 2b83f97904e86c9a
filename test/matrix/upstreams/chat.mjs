// A model that speaks chat completions.
import { argumentsOf, pairProblems, piecesOf, textOf } from './text.mjs';

const fullMessage =
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.";
/** The words of a provider of this wire and of Responses. */
export const openai = {
  full: { message: fullMessage, type: 'invalid_request_error' },
  limited: { message: 'Rate limit reached for requests', type: 'requests' },
  overloaded: [503, { message: 'The server is overloaded', type: 'server_error' }],
  last: 'data: [DONE]\n\n',
};

export const chat = {
  provider: { dialect: 'openai-chat', quirks: { reasoningField: 'reasoning_content' } },
  model: 'scripted-1',
  path: () => '/v1/chat/completions',
  isStream: ({ body }) => body.stream === true,
  read: readChat,
  events: chatChunks,
  whole: chatCompletion,
  ...openai,
};

/** What a body of POST /chat/completions tells the model. */
function readChat({ messages, tools = [] }) {
  return {
    tools: tools.map((tool) => tool.function),
    texts: messages.filter(({ role }) => role !== 'assistant').map(({ content }) => textOf(content)),
    thoughts: messages.filter(({ reasoning_content: text }) => text !== undefined).map((one) => one.reasoning_content),
    results: messages.filter(({ role }) => role === 'tool').length,
    hasCalls: messages.some(({ tool_calls: calls = [] }) => calls.length > 0),
    problems: turnProblems(messages),
  };
}

const allowed = new Set(['role', 'content', 'tool_calls', 'tool_call_id', 'name', 'reasoning_content', 'refusal']);

function turnProblems(messages) {
  const problems = messages.flatMap((message) => {
    const unknown = Object.keys(message).filter((field) => !allowed.has(field));
    const parts = Array.isArray(message.content) ? message.content : [];
    const foreign = parts.filter(({ type }) => !['text', 'image_url', 'file', 'input_audio'].includes(type));
    return [...unknown.map((field) => `a message has ${field}`), ...foreign.map(({ type }) => `a part is ${type}`)];
  });
  let calls = [];
  let results = [];
  for (const { role, tool_calls: made = [], tool_call_id: id } of [...messages, { role: 'user' }]) {
    if (role === 'tool') {
      results.push(id);
      continue;
    }
    problems.push(...pairProblems(calls, results));
    calls = made.map((call) => call.id);
    results = [];
  }
  return problems;
}

/** The chunks of a streamed completion. */
function chatChunks({ reasoning, text, calls }, { id, model, inputTokens }) {
  const deltas = [
    { role: 'assistant', content: '' },
    ...piecesOf(reasoning ?? '').map((piece) => ({ reasoning_content: piece })),
    ...piecesOf(text).map((content) => ({ content })),
    ...callDeltas(calls, id).map((call) => ({ tool_calls: [call] })),
  ];
  const head = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created: 1_795_000_000, model };
  const chunk = (delta, reason = null) => ({ ...head, choices: [{ index: 0, delta, finish_reason: reason }] });
  return [
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    { ...head, choices: [], usage: usageOf(inputTokens) },
  ];
}

function chatCompletion({ reasoning, text, calls }, { id, model, inputTokens }) {
  const made = calls.map(({ tool: { name }, input }, index) => {
    const called = { name, arguments: JSON.stringify(argumentsOf(input)) };
    return { id: `call_${id}_${index}`, type: 'function', function: called };
  });
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(reasoning === null ? {} : { reasoning_content: reasoning }),
    ...(made.length > 0 ? { tool_calls: made } : {}),
  };
  const choices = [{ index: 0, message, finish_reason: made.length > 0 ? 'tool_calls' : 'stop' }];
  const head = { id: `chatcmpl-${id}`, object: 'chat.completion', created: 1_795_000_000, model };
  return { ...head, choices, usage: usageOf(inputTokens) };
}

const usageOf = (inputTokens) => ({
  prompt_tokens: inputTokens,
  completion_tokens: 40,
  total_tokens: inputTokens + 40,
  prompt_tokens_details: { cached_tokens: 100 },
  completion_tokens_details: { reasoning_tokens: 8 },
});

/** All calls begin before the first has its arguments, and their pieces take turns. */
function callDeltas(calls, id) {
  const starts = calls.map(({ tool: { name } }, index) => {
    return { index, id: `call_${id}_${index}`, type: 'function', function: { name, arguments: '' } };
  });
  const pieces = calls.map(({ input }) => piecesOf(JSON.stringify(argumentsOf(input))));
  const longest = Math.max(0, ...pieces.map(({ length }) => length));
  const rounds = Array.from({ length: longest }, (_, round) =>
    pieces.flatMap((own, index) => (own[round] === undefined ? [] : [{ index, function: { arguments: own[round] } }])),
  );
  return [...starts, ...rounds.flat()];
}

// How the model of task.mjs reads and writes chat completions.
import { piecesOf } from './responses-wire.mjs';

/** What a body of POST /chat/completions tells the model; see `answerTo`. */
export function readChat({ messages, tools = [] }) {
  return {
    tools: tools.map((tool) => tool.function),
    texts: messages.filter(({ role }) => role !== 'assistant').map(({ content }) => textOf(content)),
    thoughts: messages.filter(({ reasoning_content: text }) => text !== undefined).map((one) => one.reasoning_content),
    hasCalls: messages.some(({ tool_calls: calls = [] }) => calls.length > 0),
  };
}

function textOf(content) {
  return typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('\n');
}

/**
 * The chunks of a streamed completion.
 * @param id           no other completion has it
 * @param inputTokens  of the prompt
 */
export function chatChunks({ reasoning, text, calls }, { id, model, inputTokens }) {
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
  const pieces = calls.map(({ input }) => piecesOf(JSON.stringify(typeof input === 'string' ? { input } : input)));
  const longest = Math.max(0, ...pieces.map(({ length }) => length));
  const rounds = Array.from({ length: longest }, (_, round) =>
    pieces.flatMap((own, index) => (own[round] === undefined ? [] : [{ index, function: { arguments: own[round] } }])),
  );
  return [...starts, ...rounds.flat()];
}

// A model that speaks Converse, and that takes Anthropic's messages by InvokeModel; in frames of AWS where it streams.
import { crc32 } from 'node:zlib';
import { anthropic } from './anthropic.mjs';
import { argumentsOf, claude, openThought, pairProblems, piecesOf, sealThought } from './text.mjs';

const model = 'scripted-1';

export const bedrock = {
  provider: { dialect: 'bedrock-converse', quirks: { family: 'claude-4.6' } },
  model,
  path: ({ isStream, body }) => `/v1/model/${model}/${actionOf(body)[isStream ? 1 : 0]}`,
  count: { path: `/v1/model/${model}/count-tokens`, body: (tokens) => ({ inputTokens: tokens }) },
  isStream: ({ url }) => url.endsWith('-stream'),
  read: (body) => (isInvoked(body) ? anthropic.read(body) : readConverse(body)),
  events: (answer, head) => (isInvoked(head.body) ? invokedEvents(answer, head) : converseEvents(answer, head)),
  whole: (answer, head) => (isInvoked(head.body) ? anthropic.whole(answer, head) : converseMessage(answer, head)),
  frame: ([name, payload]) => eventFrame(name, payload),
  contentType: 'application/vnd.amazon.eventstream',
  overloaded: [503, { message: 'The model is overloaded' }],
  last: '',
};

/** true: the body is one of Anthropic's messages. */
const isInvoked = (body) => body.anthropic_version !== undefined;
const actionOf = (body) =>
  isInvoked(body) ? ['invoke', 'invoke-with-response-stream'] : ['converse', 'converse-stream'];

/** Each event of the message is base64 in a frame. */
function invokedEvents(answer, head) {
  return anthropic.events(answer, head).map((event) => {
    return ['chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64') }];
  });
}

/** What a body of POST …/converse tells the model. */
function readConverse({ system = [], messages, toolConfig: { tools = [] } = {} }) {
  const blocks = messages.flatMap(({ role, content }) => content.map((block) => ({ role, ...block })));
  return {
    tools: tools
      .filter((tool) => tool.toolSpec)
      .map(({ toolSpec: { name, inputSchema } }) => {
        return { name, input_schema: inputSchema.json };
      }),
    texts: [...system, ...blocks.filter(({ role }) => role === 'user')].map(textIn),
    thoughts: blocks
      .filter((block) => block.reasoningContent)
      .map(({ reasoningContent: { reasoningText } }) => openThought(claude, reasoningText?.signature)),
    results: blocks.filter((block) => block.toolResult).length,
    hasCalls: blocks.some((block) => block.toolUse),
    problems: [...turnProblems(messages), ...blocks.flatMap(blockProblems)],
  };
}

function textIn({ text, toolResult }) {
  if (text !== undefined) return text;
  return (toolResult?.content ?? []).map((one) => one.text ?? JSON.stringify(one.json) ?? '').join('\n');
}

function turnProblems(messages) {
  const problems = messages[0]?.role === 'user' ? [] : ['the first message is not of the user'];
  let calls = [];
  for (const [at, { role, content }] of messages.entries()) {
    if (role === messages[at - 1]?.role) problems.push('two messages of one role are neighbours');
    if (content.length === 0) problems.push('a message is empty');
    problems.push(
      ...pairProblems(
        calls,
        content.filter((one) => one.toolResult).map((one) => one.toolResult.toolUseId),
      ),
    );
    calls = content.filter((one) => one.toolUse).map((one) => one.toolUse.toolUseId);
    if (calls.length > 0 && !content[0].reasoningContent) problems.push('a turn with calls begins without a thought');
  }
  return problems;
}

function blockProblems({ text, toolUse, toolResult }) {
  if (text !== undefined && text.trim() === '') return ['a text block is empty'];
  const named = toolUse?.toolUseId ?? toolResult?.toolUseId;
  return named === undefined || /^[a-zA-Z0-9_-]{1,64}$/.test(named) ? [] : [`the id ${named} is not legal`];
}

const metadataOf = (inputTokens) => ({
  usage: { inputTokens: inputTokens - 100, cacheReadInputTokens: 100, outputTokens: 40, totalTokens: inputTokens + 40 },
  metrics: { latencyMs: 1 },
});
const reasonOf = (calls) => (calls.length > 0 ? 'tool_use' : 'end_turn');

function blocksOf({ reasoning, text, calls }, id) {
  const signed = () => ({ text: reasoning, signature: sealThought(claude, reasoning) });
  return [
    ...(reasoning === null ? [] : [{ reasoningContent: { reasoningText: signed() } }]),
    ...(text === '' ? [] : [{ text }]),
    ...calls.map(({ tool: { name }, input }, at) => {
      return { toolUse: { toolUseId: `tooluse_${id}_${at}`, name, input: argumentsOf(input) } };
    }),
  ];
}

function converseMessage(answer, { id, inputTokens }) {
  const message = { role: 'assistant', content: blocksOf(answer, id) };
  return { output: { message }, stopReason: reasonOf(answer.calls), ...metadataOf(inputTokens) };
}

function converseEvents(answer, { id, inputTokens }) {
  return [
    ['messageStart', { role: 'assistant' }],
    ...blocksOf(answer, id).flatMap((block, contentBlockIndex) => [
      ...(block.toolUse ? [['contentBlockStart', { contentBlockIndex, start: startOf(block.toolUse) }]] : []),
      ...deltasOf(block).map((delta) => ['contentBlockDelta', { contentBlockIndex, delta }]),
      ['contentBlockStop', { contentBlockIndex }],
    ]),
    ['messageStop', { stopReason: reasonOf(answer.calls) }],
    ['metadata', metadataOf(inputTokens)],
  ];
}

const startOf = ({ input: _, ...toolUse }) => ({ toolUse });

function deltasOf({ text, toolUse, reasoningContent }) {
  if (text !== undefined) return piecesOf(text).map((piece) => ({ text: piece }));
  if (toolUse) return piecesOf(JSON.stringify(toolUse.input)).map((input) => ({ toolUse: { input } }));
  const { text: thought, signature } = reasoningContent.reasoningText;
  return [
    ...piecesOf(thought).map((piece) => ({ reasoningContent: { text: piece } })),
    { reasoningContent: { signature } },
  ];
}

/** Length, length of the headers, their checksum, headers, payload, checksum of it all. */
function eventFrame(name, payload) {
  const headers = { ':event-type': name, ':content-type': 'application/json', ':message-type': 'event' };
  const head = Buffer.concat(
    Object.entries(headers).map(([key, value]) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(value.length);
      return Buffer.concat([Buffer.from([key.length]), Buffer.from(key), Buffer.from([7]), length, Buffer.from(value)]);
    }),
  );
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  const start = Buffer.concat([prelude, checksum(prelude), head, body]);
  return Buffer.concat([start, checksum(start)]);
}

function checksum(bytes) {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}

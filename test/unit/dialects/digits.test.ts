import { describe, expect, it } from 'vitest';
import type { Dialect, StreamDecoder } from '../../../src/dialects/dialect.ts';
import { dialects } from '../../support/dialects.ts';

const input = '{"id":12345678901234567890,"f":1.0}';

/** Events in which a call has its arguments as an object, as servers send them that translate from another format. */
const events: Record<keyof typeof dialects, readonly (string | [name: string, data: string])[]> = {
  'openai-chat': [
    `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"look","arguments":${input}}}]}}]}`,
  ],
  'openai-responses': [
    `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc","call_id":"c","name":"look","arguments":""}}`,
    `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc","call_id":"c","name":"look","arguments":${input}}}`,
  ],
  'anthropic-messages': [
    '{"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}',
    `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"look","input":${input}}}`,
    '{"type":"content_block_stop","index":0}',
  ],
  'google-generate-content': [
    `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"look","args":${input}}}]}}]}`,
  ],
  'cohere-chat': [
    `{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"c","function":{"name":"look","arguments":${input}}}}}}`,
    '{"type":"tool-call-end","index":0}',
  ],
  'bedrock-converse': [
    ['contentBlockStart', '{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"c","name":"look"}}}'],
    ['contentBlockDelta', `{"contentBlockIndex":0,"delta":{"toolUse":{"input":${input}}}}`],
    ['contentBlockStop', '{"contentBlockIndex":0}'],
  ],
  'ai-sdk': [`{"type":"tool-call","toolCallId":"c","toolName":"look","input":${input}}`],
};

function argumentsIn(decoder: StreamDecoder, all: readonly (string | [string, string])[]): string {
  const parts = all.flatMap((event) =>
    typeof event === 'string' ? decoder.decode(event, '') : decoder.decode(event[1], event[0]),
  );
  return parts
    .flatMap((part) => (part.kind === 'chunk' ? part.chunk.choices : []))
    .flatMap(({ delta }) => delta.tool_calls ?? [])
    .map((call) => call.function?.arguments ?? '')
    .join('');
}

describe('arguments that a stream has as an object', () => {
  it.each(Object.keys(events) as (keyof typeof dialects)[])('keep the digits of their numbers (%s)', (name) => {
    const dialect = dialects[name] as Dialect;
    expect(argumentsIn(dialect.streamDecoder({}), events[name])).toBe(input);
  });
});

import { describe, expect, it } from 'vitest';
import { chatMessageSchema, chatRequestSchema } from '../../../../src/schema/chat/chat.ts';
import { validationIssues } from '../../../../src/schema/chat/validate.ts';

const text = { type: 'text', text: 'Hello' };
const parts = {
  text,
  cachedText: { type: 'text', text: 'Hello', cache_control: { type: 'ephemeral', ttl: '1h' } },
  image: { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'original' } },
  audio: { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
  video: { type: 'video_url', video_url: { url: 'https://example.org/a.mp4' } },
  legacyVideo: { type: 'input_video', video_url: { url: 'https://example.org/a.mp4' } },
  file: { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf', file_id: 'f1' } },
  emptyFile: { type: 'file', file: {} },
};
const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };

const accepted: [name: string, message: Record<string, unknown>][] = [
  ['system text', { role: 'system', content: 'x', name: 'n' }],
  ['system text parts', { role: 'system', content: [parts.text, parts.cachedText] }],
  ['developer text', { role: 'developer', content: 'x', name: 'n' }],
  ['developer text parts', { role: 'developer', content: [parts.text] }],
  ['user text', { role: 'user', content: '' }],
  ['user parts of every type', { role: 'user', content: Object.values(parts), name: 'n' }],
  ['user without parts', { role: 'user', content: [] }],
  ['assistant text', { role: 'assistant', content: 'x', name: 'n' }],
  ['assistant parts', { role: 'assistant', content: Object.values(parts) }],
  ['assistant null content', { role: 'assistant', content: null }],
  ['assistant without content', { role: 'assistant' }],
  ['assistant tool calls', { role: 'assistant', content: null, tool_calls: [call, { ...call, id: 'c2' }] }],
  ['assistant refusal', { role: 'assistant', refusal: 'no' }],
  ['assistant null refusal and reasoning', { role: 'assistant', refusal: null, reasoning: null }],
  [
    'assistant reasoning details',
    {
      role: 'assistant',
      reasoning: 'hm',
      reasoning_details: [
        { type: 'reasoning.summary', summary: 's', id: null, index: 0, format: 'openai-responses-v1' },
        { type: 'reasoning.encrypted', data: 'd', id: 'r1', format: null },
        { type: 'reasoning.text', text: 't', signature: 's' },
        { type: 'reasoning.text', text: null, signature: null, format: 'a-later-one' },
      ],
    },
  ],
  ['assistant images', { role: 'assistant', images: [{ type: 'image_url', image_url: { url: 'data:,' } }] }],
  ['assistant audio', { role: 'assistant', audio: { id: 'a', data: 'AAAA', transcript: 't', expires_at: 1 } }],
  [
    'assistant annotations',
    { role: 'assistant', content: 'x', annotations: [{ type: 'url_citation', url_citation: {} }] },
  ],
  ['tool text', { role: 'tool', content: 'x', tool_call_id: 'c1' }],
  ['tool parts', { role: 'tool', content: Object.values(parts), tool_call_id: 'c1' }],
  ['unknown fields', { role: 'user', content: [{ ...text, own: { a: 1 } }], own: [1] }],
];

const rejected: [name: string, message: unknown, path: string, message: string][] = [
  ['no role', { content: 'x' }, 'role', 'expected one of "system", "user", "assistant", "tool", "developer"'],
  [
    'a role of another wire',
    { role: 'function', content: 'x' },
    'role',
    'expected one of "system", "user", "assistant", "tool", "developer"',
  ],
  ['system without content', { role: 'system' }, 'content', 'expected string or array'],
  ['system image', { role: 'system', content: [parts.image] }, 'content[0].type', 'expected "text"'],
  ['developer null content', { role: 'developer', content: null }, 'content', 'expected string or array'],
  ['user without content', { role: 'user' }, 'content', 'expected string or array'],
  ['user null content', { role: 'user', content: null }, 'content', 'expected string or array'],
  ['user number content', { role: 'user', content: 5 }, 'content', 'expected string or array'],
  ['user name that is no string', { role: 'user', content: 'x', name: 1 }, 'name', 'expected string'],
  ['a part that is a string', { role: 'user', content: ['x'] }, 'content[0]', 'expected object'],
  [
    'a part without type',
    { role: 'user', content: [{ text: 'x' }] },
    'content[0].type',
    'expected one of "text", "image_url", "input_audio", "video_url", "input_video", "file"',
  ],
  [
    'a part of no known type',
    { role: 'user', content: [text, { type: 'smell' }] },
    'content[1].type',
    'expected one of "text", "image_url", "input_audio", "video_url", "input_video", "file"',
  ],
  ['text part without text', { role: 'user', content: [{ type: 'text' }] }, 'content[0].text', 'expected string'],
  [
    'wrong cache control',
    { role: 'user', content: [{ ...text, cache_control: { type: 'x' } }] },
    'content[0].cache_control.type',
    'expected "ephemeral"',
  ],
  [
    'wrong ttl',
    { role: 'user', content: [{ ...text, cache_control: { type: 'ephemeral', ttl: '1d' } }] },
    'content[0].cache_control.ttl',
    'expected one of "5m", "1h"',
  ],
  [
    'image without url object',
    { role: 'user', content: [{ type: 'image_url', image_url: 'http://x' }] },
    'content[0].image_url',
    'expected object',
  ],
  [
    'image url that is no string',
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 1 } }] },
    'content[0].image_url.url',
    'expected string',
  ],
  [
    'image detail',
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'x', detail: 'huge' } }] },
    'content[0].image_url.detail',
    'expected one of "auto", "low", "high", "original"',
  ],
  [
    'audio without format',
    { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'A' } }] },
    'content[0].input_audio.format',
    'expected string',
  ],
  [
    'audio without data',
    { role: 'user', content: [{ type: 'input_audio', input_audio: { format: 'wav' } }] },
    'content[0].input_audio.data',
    'expected string',
  ],
  [
    'video without url',
    { role: 'user', content: [{ type: 'video_url', video_url: {} }] },
    'content[0].video_url.url',
    'expected string',
  ],
  [
    'legacy video with a wrong key',
    { role: 'user', content: [{ type: 'input_video', input_video: { url: 'x' } }] },
    'content[0].video_url',
    'expected object',
  ],
  ['file without file', { role: 'user', content: [{ type: 'file' }] }, 'content[0].file', 'expected object'],
  [
    'file name that is no string',
    { role: 'user', content: [{ type: 'file', file: { filename: 1 } }] },
    'content[0].file.filename',
    'expected string',
  ],
  ['assistant number content', { role: 'assistant', content: 1 }, 'content', 'expected string or array'],
  ['assistant tool calls null', { role: 'assistant', tool_calls: null }, 'tool_calls', 'expected array'],
  [
    'tool call without id',
    { role: 'assistant', tool_calls: [{ ...call, id: undefined }] },
    'tool_calls[0].id',
    'expected string',
  ],
  [
    'tool call of another type',
    { role: 'assistant', tool_calls: [{ ...call, type: 'custom' }] },
    'tool_calls[0].type',
    'expected "function"',
  ],
  [
    'tool call arguments as an object',
    { role: 'assistant', tool_calls: [call, { ...call, function: { name: 'f', arguments: {} } }] },
    'tool_calls[1].function.arguments',
    'expected string',
  ],
  [
    'reasoning detail type',
    { role: 'assistant', reasoning_details: [{ type: 'reasoning.song' }] },
    'reasoning_details[0].type',
    'expected one of "reasoning.summary", "reasoning.encrypted", "reasoning.text"',
  ],
  [
    'reasoning summary without text',
    { role: 'assistant', reasoning_details: [{ type: 'reasoning.summary' }] },
    'reasoning_details[0].summary',
    'expected string',
  ],
  [
    'reasoning encrypted without data',
    { role: 'assistant', reasoning_details: [{ type: 'reasoning.encrypted', data: null }] },
    'reasoning_details[0].data',
    'expected string',
  ],
  [
    'reasoning index',
    { role: 'assistant', reasoning_details: [{ type: 'reasoning.text', index: 0.5 }] },
    'reasoning_details[0].index',
    'expected integer',
  ],
  [
    'assistant image without url',
    { role: 'assistant', images: [{ image_url: {} }] },
    'images[0].image_url.url',
    'expected string',
  ],
  ['assistant audio', { role: 'assistant', audio: { expires_at: 'soon' } }, 'audio.expires_at', 'expected integer'],
  ['assistant refusal', { role: 'assistant', refusal: true }, 'refusal', 'expected string'],
  ['tool without id', { role: 'tool', content: 'x' }, 'tool_call_id', 'expected string'],
  ['tool without content', { role: 'tool', tool_call_id: 'c1' }, 'content', 'expected string or array'],
];

describe('chat messages', () => {
  it.each(accepted)('accept %s, and lose nothing of it', (_name, message) => {
    expect(chatMessageSchema().parse(message)).toEqual(message);
  });

  it.each(rejected)('refuse %s', (_name, message, path, expected) => {
    const result = chatRequestSchema().safeParse({ messages: [{ role: 'user', content: 'x' }, message] });
    expect(result.success ? [] : validationIssues(result.error)).toEqual([
      { path: `messages[1].${path}`, message: expected },
    ]);
  });
});

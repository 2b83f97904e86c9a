import { describe, expect, it } from 'vitest';
import { decodeError as anthropic } from '../../../../../src/dialects/anthropic-messages/errors.ts';
import { decodeError as bedrock } from '../../../../../src/dialects/bedrock-converse/errors.ts';
import { decodeError as cohere } from '../../../../../src/dialects/cohere-chat/errors.ts';
import { decodeError as google } from '../../../../../src/dialects/google-generate-content/errors.ts';
import { decodeError as chat, errorIn } from '../../../../../src/dialects/openai-chat/errors.ts';

type Decode = typeof chat;

// As providers document them, and as their users report them.
const refused: [string, Decode, number, object][] = [
  ['OpenAI', chat, 400, { error: { code: 'content_policy_violation', message: 'Your request was rejected.' } }],
  ['OpenAI, a model that reasons', chat, 400, { error: { code: 'invalid_prompt', message: 'Invalid prompt' } }],
  ['Azure', chat, 400, { error: { code: 'content_filter', message: 'The response was filtered', innererror: {} } }],
  ['Alibaba', chat, 400, { error: { code: 'data_inspection_failed', message: 'Input data may contain risk.' } }],
  ['DeepSeek', chat, 400, { error: { message: 'Content Exists Risk', type: 'invalid_request_error' } }],
  ['xAI', chat, 403, { code: 'x', error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO' }],
  ['Moonshot', chat, 400, { error: { type: 'content_filter', message: 'The request was rejected' } }],
  ['Z.AI', chat, 400, { error: { code: '1301', message: 'x' } }],
  ['Z.AI in Chinese', chat, 400, { error: { message: '系统检测到输入或生成内容可能包含不安全或敏感内容' } }],
  ['OpenRouter', chat, 403, { error: { message: 'Your chosen model requires moderation and your input was flagged' } }],
  [
    'Anthropic',
    anthropic,
    400,
    { error: { type: 'invalid_request_error', message: 'Output blocked by content filtering policy' } },
  ],
  [
    'Bedrock',
    bedrock,
    400,
    { __type: 'ValidationException', message: 'This request has been blocked by our content filters' },
  ],
  ['Cohere', cohere, 400, { message: 'blocked input: violates our terms of use' }],
  [
    'Google',
    google,
    400,
    { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'This violates our Responsible AI practices' } },
  ],
];

describe('an error of what a request is about', () => {
  it.each(refused)('is the caller’s: %s', (_, decode, status, body) => {
    expect(decode(status, {}, JSON.stringify(body), 0)).toMatchObject({
      fault: 'caller',
      errorType: 'content_policy_violation',
    });
  });
  it('is told from an account that was closed', () => {
    const body = { error: { message: 'Your account was suspended after moderation' } };
    expect(chat(403, {}, JSON.stringify(body), 0)).toMatchObject({ fault: 'operator' });
  });
});

const busy: [string, number, object][] = [
  ['Moonshot', 429, { error: { type: 'engine_overloaded_error', message: 'The engine is currently overloaded' } }],
  ['OpenAI', 500, { error: { message: 'The model is currently overloaded with other requests.' } }],
  ['Groq', 500, { error: { message: 'The model is over capacity.' } }],
  ['a proxy of Claude', 429, { error: { type: 'overloaded_error', message: 'Overloaded' } }],
];

describe('an error of an overload', () => {
  it.each(busy)('is one, whatever its status: %s', (_, status, body) => {
    expect(chat(status, {}, JSON.stringify(body), 0)).toMatchObject({ status: 503, errorType: 'provider_overloaded' });
    expect(errorIn(body as never)).toMatchObject({ status: 503, fault: 'transient' });
  });
  it('is told from a rate', () => {
    const body = { error: { message: 'Rate limit reached', code: 'rate_limit_exceeded' } };
    expect(chat(429, {}, JSON.stringify(body), 0)).toMatchObject({ status: 429, errorType: 'rate_limit_exceeded' });
  });
});

describe('an error inside a success that has no object of its own', () => {
  it.each<[string, object, object]>([
    [
      'MiniMax, the bill',
      { choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
      { status: 402 },
    ],
    [
      'MiniMax, what it is about',
      { base_resp: { status_code: 1026, status_msg: 'x' } },
      { status: 400, fault: 'caller' },
    ],
    [
      'MiniMax, anything',
      { base_resp: { status_code: 1000, status_msg: 'unknown error' } },
      { status: 502, message: 'unknown error' },
    ],
    ['Baidu', { error_code: 336_003, error_msg: 'No', id: 'x' }, { status: 502, message: 'No' }],
    ['Spark', { code: 10_013, message: 'No', sid: 'x' }, { status: 502, message: 'No' }],
    ['Cerebras', { message: 'No', type: 'too_many_requests_error', code: 429 }, { status: 429, message: 'No' }],
    ['FastAPI', { detail: 'No' }, { status: 502, message: 'No' }],
    [
      'Cloudflare',
      { success: false, errors: [{ code: 7003, message: 'No' }], result: null },
      { status: 502, message: 'No' },
    ],
  ])('is found: %s', (_, body, error) => {
    expect(errorIn(body as never)).toMatchObject(error);
  });
  it.each([
    { choices: [], base_resp: { status_code: 0, status_msg: '' } },
    { code: 0, message: 'Success', sid: 'x', choices: [{}] },
    { code: 0, message: 'Success' },
    { message: 'Hello' },
    { type: 'ping' },
    { choices: [], code: 5, message: 'x' },
    { usage: { prompt_tokens: 1 } },
  ])('is none: %j', (body) => {
    expect(errorIn(body)).toBe(null);
  });
});

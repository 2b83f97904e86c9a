import { describe, expect, it } from 'vitest';
import { decodeError as anthropic } from '../../../../../src/dialects/anthropic-messages/errors.ts';
import { decodeError as bedrock } from '../../../../../src/dialects/bedrock-converse/errors.ts';
import { decodeError as cohere } from '../../../../../src/dialects/cohere-chat/errors.ts';
import { decodeError as google } from '../../../../../src/dialects/google-generate-content/errors.ts';
import { decodeError as chat, errorIn } from '../../../../../src/dialects/openai-chat/errors.ts';
import { responseError } from '../../../../../src/dialects/openai-responses/errors.ts';

type Decode = typeof chat;

const quota = 'You exceeded your current quota, please check your plan and billing details.';
const quotaOf = (quotaId: string, ...more: object[]) => ({
  error: {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: `${quota} Quota exceeded for metric: generate_content_free_tier_requests`,
    details: [{ '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] }, ...more],
  },
});
const pause = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' };

// As providers document them, and as their users report them.
const ofBill: [string, Decode, number, object][] = [
  ['OpenAI', chat, 429, { error: { message: quota, type: 'insufficient_quota', code: 'insufficient_quota' } }],
  [
    'OpenAI, a limit',
    chat,
    400,
    { error: { message: 'Billing hard limit has been reached', code: 'billing_hard_limit_reached' } },
  ],
  ['Moonshot', chat, 429, { error: { message: 'Your account is suspended', type: 'exceeded_current_quota_error' } }],
  [
    'DeepSeek, behind a proxy',
    chat,
    400,
    { error: { message: 'Insufficient Balance', code: 'invalid_request_error' } },
  ],
  [
    'Z.AI',
    chat,
    429,
    { error: { code: '1113', message: 'Insufficient balance or no resource package. Please recharge.' } },
  ],
  ['Z.AI in Chinese', chat, 429, { error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } }],
  ['MiniMax', chat, 429, { error: { code: 1008, message: 'insufficient balance' } }],
  [
    'Alibaba',
    chat,
    400,
    { error: { code: 'Arrearage', message: 'Access denied, please make sure your account is in good standing.' } },
  ],
  [
    'xAI',
    chat,
    429,
    {
      code: 'Some resource has been exhausted',
      error: 'Your team has used all available credits or reached its monthly spending limit.',
    },
  ],
  [
    'Groq',
    chat,
    400,
    { error: { message: 'Your organization has reached its monthly spend limit', code: 'blocked_api_access' } },
  ],
  ['Together', chat, 429, { error: { message: 'Credit limit exceeded', type: 'credit_limit_exceeded' } }],
  ['Hugging Face', chat, 429, { error: 'You have run out of credits' }],
  ['Hugging Face, of a month', chat, 403, { error: 'You have exceeded your monthly included credits' }],
  [
    'Fireworks',
    chat,
    412,
    { error: { message: 'Account a is suspended, possibly due to reaching the monthly spending limit' } },
  ],
  ['Novita', chat, 403, { code: 403, reason: 'NOT_ENOUGH_BALANCE', message: 'not enough balance' }],
  ['SiliconFlow', chat, 403, { code: 30001, message: 'Sorry, your account balance is insufficient' }],
  [
    'Alibaba, its free tier',
    chat,
    403,
    { error: { code: 'AllocationQuota.FreeTierOnly', message: 'The free tier of the model has been exhausted.' } },
  ],
  [
    'Z.AI, a plan',
    chat,
    429,
    { error: { code: '1308', message: 'Usage limit reached for 5 hour. Your limit will reset at 18:00' } },
  ],
  ['Cohere', cohere, 429, { message: 'You have exceeded your current quota' }],
  [
    'Anthropic',
    anthropic,
    400,
    {
      error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' },
    },
  ],
  [
    'Anthropic, a limit',
    anthropic,
    400,
    { error: { type: 'invalid_request_error', message: 'You have reached your specified API usage limits.' } },
  ],
  [
    'Anthropic, at a rate',
    anthropic,
    429,
    { error: { type: 'rate_limit_error', message: 'You have reached your specified workspace API usage limits.' } },
  ],
  ['Google', google, 429, { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: quota } }],
  ['Google, of a day', google, 429, quotaOf('GenerateRequestsPerDayPerProjectPerModel-FreeTier', pause)],
  [
    'Google, a spending cap',
    google,
    429,
    {
      error: {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        message: 'Your project has exceeded its monthly spending cap.',
      },
    },
  ],
  ['Bedrock', bedrock, 429, { __type: 'ThrottlingException', message: 'The account is past due' }],
];

const ofRate: [string, Decode, number, object][] = [
  [
    'OpenAI',
    chat,
    429,
    {
      error: {
        message: 'Rate limit reached for gpt-6 in organization org-1 on tokens per min (TPM): Limit 30000',
        code: 'rate_limit_exceeded',
      },
    },
  ],
  [
    'Moonshot',
    chat,
    429,
    { error: { message: 'Your account reached max request per minute', type: 'rate_limit_reached_error' } },
  ],
  ['Mistral', chat, 429, { message: 'Service tier capacity exceeded for this model.', code: '3505' }],
  [
    'Alibaba',
    chat,
    429,
    { error: { message: 'Requests rate limit exceeded, please try again later.', code: 'Throttling.RateQuota' } },
  ],
  [
    'Anthropic',
    anthropic,
    429,
    {
      error: {
        type: 'rate_limit_error',
        message: 'This request would exceed the rate limit for your organization of 40,000 input tokens per minute.',
      },
    },
  ],
  ['Google', google, 429, quotaOf('GenerateRequestsPerMinutePerProjectPerModel-FreeTier', pause)],
  [
    'Google, without its quota',
    google,
    429,
    { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: quota, details: [pause] } },
  ],
  [
    'Vertex',
    google,
    429,
    { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Resource exhausted. Please try again later.' } },
  ],
  [
    'Bedrock',
    bedrock,
    429,
    { __type: 'ThrottlingException', message: 'Too many tokens, please wait before trying again.' },
  ],
];

describe('an error of the operator’s bill or quota', () => {
  it.each(ofBill)('is that of a status of 402, whatever its own is: %s', (_, decode, status, body) => {
    expect(decode(status, {}, JSON.stringify(body), 0)).toMatchObject({
      status: 402,
      fault: 'operator',
      reason: 'status',
    });
  });
  it.each(ofRate)('is told from a rate, which time cures: %s', (_, decode, status, body) => {
    expect(decode(status, {}, JSON.stringify(body), 0)).toMatchObject({ status, fault: 'transient' });
  });
  it('is seen inside a success and inside a stream', () => {
    const error = { message: quota, type: 'insufficient_quota', code: 'insufficient_quota' };
    expect(errorIn({ error })).toMatchObject({ status: 402, fault: 'operator' });
    expect(responseError({ type: 'error', error })).toMatchObject({ status: 402, fault: 'operator' });
  });
  it('is none with a status that says something else', () => {
    const body = JSON.stringify({ error: { message: quota } });
    for (const status of [404, 422, 500, 503]) expect(chat(status, {}, body, 0).status).toBe(status);
  });
});

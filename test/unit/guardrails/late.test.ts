import { describe, expect, it } from 'vitest';
import { textGuardrail } from '../../../src/guardrails/text-guardrail.ts';

const patterns = [{ builtin: 'email', action: 'redact', restore: true }] as const;
const request = { messages: [{ role: 'user' as const, content: 'Write to jo@example.com' }] };

describe('a text guardrail whose code is not loaded yet', () => {
  it('refuses wrong patterns at once', () => {
    expect(() => textGuardrail({ id: 'a', patterns: [{ builtin: 'emails' as never, action: 'block' }] })).toThrow(
      'expected one of email, phone, credit-card, iban, ssn, national-id, api-key, prompt-injection',
    );
    expect(() => textGuardrail({ id: 'a', patterns: [{ regex: '(?=a)', name: 'a', action: 'block' }] })).toThrow(
      'look-around is not available in RE2',
    );
  });

  it('lets no response pass: it is ready only after it has looked at the request', async () => {
    const guardrail = textGuardrail({ id: 'a', patterns });
    expect(() => guardrail.steps?.({} as never)).toThrow('The guardrail a is not ready');
    expect(guardrail.withholds?.('jo@example.com')).toBe(false);
    await guardrail.load?.();
    const context = { call: { ask: { request, native: null }, caller: {} }, clock: { monotonic: () => 0 } } as never;
    expect(guardrail.steps?.(context)).toHaveLength(1);
  });
});

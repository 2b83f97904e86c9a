import { describe, expect, it } from 'vitest';
import type { CredentialRef } from '../../../../../src/call/plan.ts';
import type { WorkspaceId } from '../../../../../src/call/workspace.ts';
import { createRefusedThoughts, isOtherPrompt } from '../../../../../src/pipeline/attempt/thoughts/bound-thoughts.ts';
import type { ChatRequest } from '../../../../../src/schema/chat/chat.ts';
import { manualClock } from '../../../../support/manual-clock.ts';

const byok = (id: string, workspace = 'a'): CredentialRef => ({
  kind: 'byok',
  provider: 'anthropic',
  workspaceId: workspace as WorkspaceId,
  id,
});
const operator: CredentialRef = { kind: 'operator', provider: 'anthropic' };

describe('the credentials whose provider has refused a thought', () => {
  it('are apart from each other, whoever they belong to', () => {
    const refused = createRefusedThoughts(manualClock(), { ttlMs: 1_000, max: 10 });
    refused.add(byok('1'));
    expect([byok('1'), byok('2'), byok('1', 'b'), operator].map(refused.has)).toEqual([true, false, false, false]);
  });

  it('are forgotten after their time, and where there are too many', async () => {
    const clock = manualClock();
    const refused = createRefusedThoughts(clock, { ttlMs: 1_000, max: 2 });
    refused.add(operator);
    await clock.advance(999);
    expect(refused.has(operator)).toBe(true);
    await clock.advance(1);
    expect(refused.has(operator)).toBe(false);
    for (const id of ['1', '2', '3']) refused.add(byok(id));
    expect(['1', '2', '3'].map((id) => refused.has(byok(id)))).toEqual([false, true, true]);
  });
});

describe('a workspace with many credentials', () => {
  it('has those of no other forgotten', () => {
    const refused = createRefusedThoughts(manualClock(), { ttlMs: 1_000, max: 10 });
    const others = [operator, byok('1'), byok('2')];
    for (const one of others) refused.add(one);
    for (let n = 0; n < 100; n++) refused.add(byok(`${n}`, 'flood'));
    expect(others.map(refused.has)).toEqual([true, true, true]);
    expect(refused.has(byok('99', 'flood'))).toBe(true);
  });
});

describe('a prompt that is another than the client has', () => {
  const asked = {
    messages: [{ role: 'user', content: 'a' }],
    tools: [{ type: 'function', function: { name: 'a' } }],
  } as ChatRequest;
  const [message] = asked.messages as [ChatRequest['messages'][number]];

  it.each<[string, object, boolean]>([
    ['the same', {}, false],
    ['another setting', { temperature: 1 }, false],
    ['a new list of the same messages', { messages: [message] }, false],
    ['a copy of a message', { messages: [{ ...message }] }, false],
    ['a message that was changed', { messages: [{ ...message, content: 'b' }] }, true],
    ['a message that was left out', { messages: [] }, true],
    ['a message more', { messages: [message, message] }, true],
    ['another tool', { tools: [] }, true],
    ['a search of the provider, whose steps the client does not see', { web_search_options: {} }, true],
  ])('%s', (_, change, expected) => expect(isOtherPrompt(asked, { ...asked, ...change })).toBe(expected));
});

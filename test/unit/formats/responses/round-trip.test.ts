import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ask } from '../../../../src/call/ask.ts';
import { openaiResponses } from '../../../../src/dialects/openai-responses/index.ts';
import { packCompaction } from '../../../../src/formats/responses/packed-compaction.ts';
import { packReasoning } from '../../../../src/formats/responses/packed-reasoning.ts';
import { askOfResponses } from '../../../../src/formats/responses/request/index.ts';
import { type ChatMessage, type ChatRequest, chatRequestSchema } from '../../../../src/schema/chat/chat.ts';
import {
  responsesContradictions,
  responsesIssues,
  responsesRequestSchema,
} from '../../../../src/schema/responses/responses.ts';
import { runs } from '../../../support/runs.ts';

/** Texts as people and models write them, with what JSON and URLs escape. */
const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }),
  fc.constantFrom('"', '\\', '\n', '{}', 'ä🙂'),
);
const id = fc.stringMatching(/^[a-z0-9]{1,6}$/);

/** How many random ones are tried. */
const conversations = runs(600, 6_000);

describe('a chat conversation', () => {
  const textPart = fc.record({ type: fc.constant('text'), text });
  const imagePart = fc.record({
    type: fc.constant('image_url'),
    image_url: fc.record({ url: fc.webUrl(), detail: fc.constantFrom('low', 'high', 'auto') }),
  });
  const spoken = fc.oneof(
    fc.record({ role: fc.constantFrom('system', 'developer'), content: text }),
    fc.record({
      role: fc.constantFrom('user'),
      content: fc.oneof(text, fc.array(fc.oneof(textPart, imagePart), { minLength: 2, maxLength: 4 })),
    }),
  );
  const reply = fc.record({
    content: fc.option(fc.oneof(text, fc.array(textPart, { minLength: 1, maxLength: 3 })), { nil: null }),
    refusal: fc.option(text, { nil: undefined, freq: 4 }),
    calls: fc.array(
      fc.record({
        name: fc.stringMatching(/^[a-z_]{1,8}$/),
        arguments: text,
        output: fc.oneof(text, fc.array(fc.oneof(textPart, imagePart), { minLength: 1, maxLength: 3 })),
      }),
      { maxLength: 3 },
    ),
    /** Reasoning before each other item: how many summaries, and whether it is encrypted. */
    thoughts: fc.array(
      fc.record({ summaries: fc.array(text, { maxLength: 2 }), texts: fc.array(text, { maxLength: 2 }), data: text }),
      { maxLength: 4 },
    ),
  });
  const conversation = fc.array(fc.record({ before: fc.array(spoken, { minLength: 1, maxLength: 2 }), reply }), {
    minLength: 1,
    maxLength: 4,
  });

  it('is the same after it was a Responses request', () => {
    const seen = { calls: 0, details: 0, between: 0 };
    fc.assert(
      fc.property(conversation, (turns) => {
        const messages = turns.flatMap(({ before, reply: one }, turn) => [
          ...before,
          ...messagesOf(one, `${turn}`, seen),
        ]);
        const request = chatRequestSchema().parse({ messages }) as ChatRequest;
        const { body, dropped } = openaiResponses.encodeRequest({ request, upstreamModel: 'gpt-5', quirks: {} });
        expect(dropped).toEqual([]);
        const parsed = responsesRequestSchema().parse(JSON.parse(body));
        expect(responsesIssues(parsed)).toEqual([]);
        expect(responsesContradictions(parsed)).toEqual([]);
        expect(askOfResponses(parsed).request.messages).toEqual(normal(request.messages));
      }),
      { numRuns: conversations, seed: 1 },
    );
    expect(seen.calls).toBeGreaterThan(conversations);
    expect(seen.details).toBeGreaterThan(conversations);
    expect(seen.between).toBeGreaterThan(conversations / 6);
  });

  /** A message of the assistant with its reasoning where the provider put it, and the results of its calls. */
  function messagesOf(
    reply: ReplyOf,
    turn: string,
    seen: { calls: number; details: number; between: number },
  ): object[] {
    const { content, refusal, calls, thoughts } = reply;
    const tool_calls = calls.map(({ name, arguments: args }, at) => ({
      id: `call_${turn}_${at}`,
      type: 'function',
      function: { name, arguments: args },
    }));
    const isSaid = content !== null || refusal !== undefined;
    const others = (isSaid ? 1 : 0) + tool_calls.length;
    const details: object[] = [];
    let index = 0;
    // Nothing follows reasoning after the last item, so that there is at most one before each.
    for (const [before, { summaries, texts, data }] of thoughts.slice(0, others).entries()) {
      const common = () => ({ id: `rs_${turn}_${before}`, format: 'openai-responses-v1', index: index++ });
      for (const summary of summaries) details.push({ type: 'reasoning.summary', summary, ...common() });
      for (const one of texts) details.push({ type: 'reasoning.text', text: one, ...common() });
      details.push({ type: 'reasoning.encrypted', data, ...common() });
      if (before > 0) seen.between++;
      index++;
    }
    seen.calls += tool_calls.length;
    seen.details += details.length;
    return [
      {
        role: 'assistant',
        content: isSaid || tool_calls.length > 0 ? content : '',
        ...(refusal === undefined ? {} : { refusal }),
        ...(details.length > 0 ? { reasoning_details: details } : {}),
        ...(tool_calls.length > 0 ? { tool_calls } : {}),
      },
      ...calls.map(({ output }, at) => ({ role: 'tool', tool_call_id: `call_${turn}_${at}`, content: output })),
    ];
  }
  interface ReplyOf {
    content: string | { text: string }[] | null;
    refusal: string | undefined;
    calls: { name: string; arguments: string; output: unknown }[];
    thoughts: { summaries: string[]; texts: string[]; data: string }[];
  }

  /** What may be written in two ways: texts of the assistant and of a tool as one text. */
  function normal(messages: readonly ChatMessage[]): unknown[] {
    return messages.map((message) => {
      const { content, role } = message;
      if (!Array.isArray(content) || role === 'user') return message;
      if (content.some(({ type }) => type !== 'text')) return message;
      return { ...message, content: content.map((part) => (part as { text: string }).text).join('') };
    });
  }
});

describe('any Responses input', () => {
  const input = { type: fc.constant('input_text'), text };
  const message = fc.oneof(
    fc.record({
      role: fc.constantFrom('user', 'system', 'developer'),
      content: fc.oneof(text, fc.array(fc.record(input), { maxLength: 3 })),
    }),
    fc.record({
      type: fc.constant('message'),
      role: fc.constant('assistant'),
      id,
      phase: fc.constantFrom(null, 'commentary'),
      content: fc.oneof(
        text,
        fc.array(
          fc.oneof(
            fc.record({ type: fc.constant('output_text'), text }),
            fc.record({ type: fc.constant('refusal'), refusal: text }),
          ),
          { maxLength: 3 },
        ),
      ),
    }),
  );
  const name = fc.oneof(fc.stringMatching(/^[a-z_]{1,6}$/), text);
  const called = fc.oneof(
    fc.record(
      { type: fc.constant('function_call'), call_id: id, name, namespace: fc.option(name), arguments: text },
      { requiredKeys: ['type', 'call_id', 'name', 'arguments'] },
    ),
    fc.record({ type: fc.constant('custom_tool_call'), call_id: id, name, input: text }),
    fc.record({
      type: fc.constant('local_shell_call'),
      call_id: id,
      action: fc.record({ type: fc.constant('exec'), command: fc.array(text, { maxLength: 2 }) }),
    }),
    fc.record({
      type: fc.constant('tool_search_call'),
      call_id: id,
      execution: fc.constant('client'),
      arguments: fc.record({ query: text }),
    }),
  );
  const returned = fc.oneof(
    fc.record({
      type: fc.constantFrom('function_call_output', 'custom_tool_call_output'),
      call_id: id,
      output: fc.oneof(text, fc.array(fc.record(input), { maxLength: 3 })),
    }),
    fc.record({ type: fc.constant('local_shell_call_output'), id, output: text }),
  );
  const thought = fc.record(
    {
      type: fc.constant('reasoning'),
      id,
      summary: fc.array(fc.record({ text }), { maxLength: 2 }),
      content: fc.option(fc.array(fc.record({ text }), { maxLength: 2 })),
      encrypted_content: fc.option(text),
    },
    { requiredKeys: ['type', 'summary'] },
  );
  const other = fc.oneof(
    fc.record({ type: fc.constantFrom('web_search_call', 'mcp_call', 'service:web_search'), id }),
    fc.record({
      type: fc.constant('additional_tools'),
      tools: fc.array(fc.record({ type: fc.constantFrom('function', 'custom'), name: text }), { maxLength: 2 }),
    }),
    fc.record({ type: fc.constant('compaction'), encrypted_content: text }),
  );
  const items = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: message },
      { weight: 3, arbitrary: called },
      { weight: 2, arbitrary: returned },
      { weight: 2, arbitrary: thought },
      other,
    ),
    { minLength: 1, maxLength: 12 },
  );

  it('is found in the chat request, in its order, and again in the items of the messages', () => {
    fc.assert(
      fc.property(items, (input) => {
        const request = responsesRequestSchema().parse({ input });
        const ask = askOfResponses(request);
        const { request: chat, native } = ask;
        expect(chatRequestSchema().safeParse(chat).success).toBe(true);
        const kept = native?.items.flatMap((one) => one ?? []) ?? [];
        expect(kept).toHaveLength(input.length);
        for (let at = 0; at < input.length; at++) expect(kept[at]).toBe(input[at]);
        for (const kind of ['texts', 'refusals', 'calls', 'details'] as const)
          expect(inChat(ask)[kind]).toEqual(inInput(input)[kind]);
      }),
      { numRuns: conversations, seed: 2 },
    );
  });

  /** The chat name of a tool says which one it is. */
  function inChat({ request: chat, native }: Ask) {
    const forms = native?.callForms;
    const texts: string[] = [];
    const refusals: string[] = [];
    const calls: unknown[] = [];
    const details: unknown[] = [];
    for (const {
      role,
      content,
      refusal,
      tool_calls = [],
      reasoning_details = [],
      tool_call_id,
    } of chat.messages as never as Loose[]) {
      const said =
        typeof content === 'string' ? content : ((content ?? []) as Loose[]).map(({ text: one }) => one).join('');
      if (said !== '') texts.push(`${role}: ${said}`);
      if (tool_call_id !== undefined) calls.push(tool_call_id);
      if (refusal) refusals.push(refusal as string);
      for (const { id: callId, function: called } of tool_calls as Loose[]) {
        const { name: chatName, arguments: given } = called as { name: string; arguments: string };
        expect(chatName).not.toBe('');
        calls.push([callId, forms?.get(chatName)?.name ?? chatName, given]);
      }
      for (const one of reasoning_details as Loose[]) details.push(one.summary ?? one.text ?? one.data);
    }
    return { texts, refusals, calls, details };
  }

  function inInput(list: readonly Loose[]) {
    const texts: string[] = [];
    const refusals: string[] = [];
    const calls: unknown[] = [];
    const details: unknown[] = [];
    let turn: { said: string[]; refused: string[] } | null = null;
    const endTurn = () => {
      if (turn !== null && turn.said.length > 0) texts.push(`assistant: ${turn.said.join('\n\n')}`);
      if (turn !== null && turn.refused.length > 0) refusals.push(turn.refused.join('\n\n'));
      turn = null;
    };
    for (const item of list) {
      const { role, type, call_id: callId, name: called } = item;
      const parts = (value: unknown) => (typeof value === 'string' ? [{ text: value }] : ((value ?? []) as Loose[]));
      if (role === 'assistant') {
        turn ??= { said: [], refused: [] };
        const said = parts(item.content)
          .map(({ text: one }) => one ?? '')
          .join('');
        if (said !== '') turn.said.push(said);
        for (const { refusal } of parts(item.content)) if (refusal) turn.refused.push(refusal as string);
      } else if (role !== undefined || type === 'compaction' || String(type).endsWith('_output')) {
        endTurn();
        if (type !== undefined && type !== 'compaction') calls.push(callId ?? item.id);
        const said = parts(item.content ?? item.output)
          .map(({ text: one }) => one)
          .join('');
        if (said !== '') texts.push(`${role ?? 'tool'}: ${said}`);
      } else if (type === 'reasoning') {
        for (const { text: one } of [...parts(item.summary), ...parts(item.content)]) details.push(one);
        if (item.encrypted_content) details.push(item.encrypted_content);
      } else if (type === 'function_call') calls.push([callId, called, item.arguments]);
      else if (type === 'custom_tool_call') calls.push([callId, called, JSON.stringify({ input: item.input })]);
      else if (type === 'local_shell_call')
        calls.push([callId, 'local_shell', JSON.stringify({ command: (item.action as Loose).command })]);
      else if (type === 'tool_search_call') calls.push([callId, 'tool_search', JSON.stringify(item.arguments)]);
    }
    endTurn();
    return { texts, refusals, calls, details };
  }
  type Loose = Record<string, unknown>;
});

describe('what is packed', () => {
  it('comes out as it went in, whatever it holds', () => {
    const detail = fc.oneof(
      fc.record({
        type: fc.constant('reasoning.text'),
        text,
        signature: text,
        format: fc.constant('anthropic-claude-v1'),
        index: fc.nat(),
      }),
      fc.record({ type: fc.constant('reasoning.encrypted'), data: text, id: text }),
    );
    fc.assert(
      fc.property(fc.array(detail, { minLength: 1 }), text, (details, summary) => {
        const reasoning = { type: 'reasoning', summary: [], encrypted_content: packReasoning(details as never) };
        const compaction = { type: 'compaction', encrypted_content: packCompaction(summary) };
        const {
          request: { messages },
        } = askOfResponses(responsesRequestSchema().parse({ input: [compaction, reasoning] }));
        expect(String(messages[0]?.content).endsWith(summary)).toBe(true);
        expect((messages[1] as { reasoning_details?: unknown }).reasoning_details).toEqual(details);
      }),
      { numRuns: 500, seed: 3 },
    );
  });
});

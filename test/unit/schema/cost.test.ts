import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { chatRequestSchema } from '../../../src/schema/chat/chat.ts';
import { chatChunkSchema } from '../../../src/schema/chat/chunk.ts';

const body = { model: 'acme/fast', messages: [{ role: 'user', content: 'Hello' }] };

describe('the chat request schema', () => {
  it('is compiled by zod where the platform lets it, and works where it does not', () => {
    const compiled = vi.spyOn(globalThis, 'Function');
    z.clone(chatRequestSchema()).safeParse(body);
    expect(compiled).toHaveBeenCalled();
    compiled.mockRestore();
    z.config({ jitless: true });
    const interpreted = z.clone(chatRequestSchema());
    z.config({ jitless: false });
    expect(interpreted.parse(body)).toEqual(body);
    expect(interpreted.safeParse({ messages: [] }).success).toBe(false);
  });

  it('can be written as JSON Schema, limits included, for an interface description', () => {
    const written = z.toJSONSchema(chatRequestSchema(), { unrepresentable: 'any', io: 'input' });
    expect(written.required).toEqual(['messages']);
    expect(written.properties).toMatchObject({
      messages: { type: 'array', minItems: 1 },
      session_id: { type: 'string', maxLength: 256 },
      metadata: { type: 'object', maxProperties: 16, additionalProperties: { type: 'string', maxLength: 512 } },
    });
    expect(JSON.stringify(written.properties?.provider)).toContain('"additionalProperties":false');
    expect(z.toJSONSchema(chatChunkSchema(), { unrepresentable: 'any' }).type).toBe('object');
  });
});

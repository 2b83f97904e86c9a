import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { operations } from '../../../src/operations/index.ts';
import { speechRequestSchema } from '../../../src/schema/audio/speech-request.ts';
import {
  transcriptionRequestSchema,
  translationRequestSchema,
} from '../../../src/schema/audio/transcription-request.ts';
import { checkWithPlugins } from '../../../src/schema/chat/plugin-check.ts';
import { chatRequestSchema } from '../../../src/schema/chat/request.ts';
import { textCompletionRequestSchema } from '../../../src/schema/completions/request.ts';
import { decisionsRequestSchema } from '../../../src/schema/decisions/request.ts';
import { embeddingsRequestSchema } from '../../../src/schema/embeddings/request.ts';
import { batchEmbedContentsSchema, embedContentSchema } from '../../../src/schema/gemini/embed.ts';
import { geminiRequestSchema } from '../../../src/schema/gemini/request.ts';
import {
  imageEditsRequestSchema,
  imageGenerationsRequestSchema,
  imagesRequestSchema,
} from '../../../src/schema/images/request.ts';
import { messagesRequestSchema } from '../../../src/schema/messages/request.ts';
import { moderationsRequestSchema } from '../../../src/schema/moderations/request.ts';
import { rerankRequestSchema } from '../../../src/schema/rerank/request.ts';
import { responsesRequestSchema } from '../../../src/schema/responses/responses.ts';
import { type BodyCheck, checkBy, type Schema } from '../../../src/schema/schema.ts';

type Key = string | number;
/** A value that fits a schema, but for a null in one optional field. */
interface Case {
  value: unknown;
  path: readonly Key[];
  /** Whether the field's own schema takes null. */
  takesNull: boolean;
}

interface Definition {
  type: string;
  shape?: Record<string, z.ZodType>;
  element?: z.ZodType;
  valueType?: z.ZodType;
  innerType?: z.ZodType;
  in?: z.ZodType;
  options?: z.ZodType[];
  values?: unknown[];
  entries?: Record<string, unknown>;
}
const definitionOf = (schema: z.ZodType) => schema._zod.def as unknown as Definition;

/** For fields whose form zod's definition does not say. */
const samples: readonly unknown[] = [
  'a',
  1,
  true,
  {},
  [],
  'service:web_search',
  'openai/gpt',
  'openai',
  '2099-01-01T00:00:00Z',
  '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  'f'.repeat(64),
];

/** The smallest value that fits. */
function least(schema: z.ZodType): unknown {
  const { type, shape, element, innerType, in: input, options, values, entries } = definitionOf(schema);
  if (values) return values[0];
  if (entries) return Object.values(entries)[0];
  if (shape) {
    const required = Object.entries(shape).filter(([, field]) => field._zod.optin !== 'optional');
    return Object.fromEntries(required.map(([name, field]) => [name, least(field)]));
  }
  if (type === 'array' && element) {
    const one = least(element);
    return [[], [one], [one, one]].find((some) => schema.safeParse(some).success) ?? [one];
  }
  if (options) return least(options[0] as z.ZodType);
  const inner = innerType ?? input;
  if (inner) return least(inner);
  const found = samples.find((sample) => schema.safeParse(sample).success);
  if (found === undefined) throw new Error(`No sample fits a schema of type ${type}`);
  return found;
}

/** Every optional field of a schema, wherever it stands, as null. */
function casesOf(schema: z.ZodType): Case[] {
  const { shape, element, valueType, innerType, in: input, options } = definitionOf(schema);
  const below = (inner: z.ZodType, key: Key, around: (value: unknown) => unknown) =>
    casesOf(inner).map((one) => ({ ...one, path: [key, ...one.path], value: around(one.value) }));
  if (options) return options.flatMap(casesOf);
  const inner = innerType ?? input;
  if (inner) return casesOf(inner);
  if (shape) {
    const rest = least(schema) as object;
    return Object.entries(shape).flatMap(([name, field]) => {
      const cases = below(field, name, (value) => ({ ...rest, [name]: value }));
      if (field._zod.optin === 'optional')
        cases.push({ path: [name], value: { ...rest, [name]: null }, takesNull: field.safeParse(null).success });
      return cases;
    });
  }
  if (element) return below(element, 0, (value) => [value, ...(least(schema) as unknown[]).slice(1)]);
  return valueType ? below(valueType, 'k', (value) => ({ k: value })) : [];
}

function without(value: unknown, [key, ...rest]: readonly Key[]): unknown {
  if (Array.isArray(value)) return value.map((item) => without(item, rest));
  const { [key as Key]: inner, ...others } = value as Record<string, unknown>;
  return rest.length === 0 ? others : { ...(value as object), [key as Key]: without(inner, rest) };
}

/** The schema of a body whose check does not say it, by the name of its operation. */
function schemaOf(name: string): z.ZodType {
  if (/chat/i.test(name)) return chatRequestSchema();
  if (name === 'embedContent') return embedContentSchema();
  if (name === 'batchEmbedContents') return batchEmbedContentsSchema();
  if (/Embeddings$/.test(name)) return embeddingsRequestSchema();
  if (/Rerank$/.test(name)) return rerankRequestSchema();
  if (/Decisions$/.test(name)) return decisionsRequestSchema();
  if (/Moderations$/.test(name)) return moderationsRequestSchema();
  if (/Speech$/.test(name)) return speechRequestSchema();
  if (/Transcription$/.test(name)) return transcriptionRequestSchema();
  if (/Translation$/.test(name)) return translationRequestSchema();
  if (/ImageEdits$|^editImages$/.test(name)) return imageEditsRequestSchema();
  if (/Images$/.test(name)) return imageGenerationsRequestSchema();
  if (/Image$/.test(name)) return imagesRequestSchema();
  if (/Completion$/.test(name)) return textCompletionRequestSchema();
  if (/message/i.test(name)) return messagesRequestSchema();
  return /content|^countTokens/i.test(name) ? geminiRequestSchema() : responsesRequestSchema();
}

const bodies = operations({
  brand: 'service',
  pipeline: { plugins: [] },
  byokProviders: new Map(),
  bounds: { models: 64, slugChars: 256, listItems: 1_000 },
} as never).flatMap(({ name, body }) => {
  if (body === null) return [];
  const check = body() as Schema | BodyCheck<unknown>;
  return [{ name, check, schema: '_zod' in check ? (check as unknown as z.ZodType) : schemaOf(name) }];
});

describe('null in an optional field', () => {
  it.each(bodies)('is taken as not set in the body of $name', ({ check, schema }) => {
    const cases = casesOf(schema);
    let taken = 0;
    for (const { value, path, takesNull } of cases) {
      const place = path.join('.');
      const found = checkBy(check, value);
      // Two alternatives are for the words of an error, and take nothing.
      const expected = checkBy(check, without(value, path));
      expect(found.issues, place).toEqual(expected.issues);
      // Where null means something, the operation decides what.
      if (!takesNull) expect(found, place).toEqual(expected);
      taken += found.issues === null ? 1 : 0;
    }
    expect(taken).toBeGreaterThanOrEqual(cases.length - 2);
  });

  it('is looked for in many fields', () => {
    const count = bodies.reduce((sum, { schema }) => sum + casesOf(schema).length, 0);
    expect(bodies.length).toBeGreaterThan(15);
    expect(count).toBeGreaterThan(600);
  });

  const chat = bodies.find(({ name }) => name === 'createChatCompletion')?.check as BodyCheck<object>;
  const messages = [{ role: 'user', content: 'Hi' }];
  it.each([
    ['a required field', { messages: null }, ['messages']],
    ['a required field of a message', { messages: [{ role: 'user', content: null }] }, ['messages[0].content']],
    ['an item of a list', { messages, models: [null] }, ['models[0]']],
    ['an entry of a map', { messages, metadata: { a: null } }, ['metadata.a']],
    [
      'a required field beside optional ones',
      { messages: [{ role: 'assistant', name: null, tool_calls: [{ id: null, type: 'function', function: {} }] }] },
      ['messages[0].tool_calls[0].id', 'messages[0].tool_calls[0].function.name'],
    ],
  ])('%s stays refused', (_, body, paths) => {
    const { issues } = checkBy(chat, body);
    expect(issues?.map(({ path }) => path)).toEqual(expect.arrayContaining(paths));
    expect(JSON.stringify(issues)).not.toContain('.name: null');
  });

  it('leaves the value of the caller as it was, and a key named __proto__ harmless', () => {
    const body = JSON.parse('{"messages":[{"role":"assistant","name":null,"__proto__":{"polluted":1}}],"user":null}');
    const before = JSON.stringify(body);
    const { issues, ...found } = checkBy(chat, body) as { issues: null; value: { polluted?: unknown } };
    expect(issues).toBeNull();
    expect(JSON.stringify(body)).toBe(before);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(found.value).not.toHaveProperty('user');
  });

  it('is taken in every message of a long conversation by two looks at each', () => {
    let looks = 0;
    const text = z.string().refine(() => ++looks > 0);
    const schema = z.object({ list: z.array(z.union([z.object({ text, name: z.string().optional() }), z.string()])) });
    const list = Array.from({ length: 10_000 }, () => ({ text: 'a', name: null }));
    expect(checkBy(schema as unknown as Schema, { list }).issues).toBeNull();
    expect(looks).toBeLessThanOrEqual(3 * list.length);
  });

  it("is taken in the settings of the host app's plugin", () => {
    const options = z.object({ id: z.literal('mine'), depth: z.int().optional(), own: z.string().nullish() });
    const check = checkWithPlugins(
      () => chat as BodyCheck<{ plugins?: unknown[] }>,
      [{ id: 'mine', options: () => options as unknown as Schema }],
    );
    const body = { messages, plugins: [{ id: 'mine', depth: null, own: null, other: null }] };
    expect(checkBy(check(), body)).toMatchObject({ value: { plugins: [{ id: 'mine', own: null }] } });
    expect(checkBy(check(), body)).not.toHaveProperty('value.plugins[0].depth');
  });
});

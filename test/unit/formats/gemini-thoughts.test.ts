import { describe, expect, it } from 'vitest';
import { jsonSchemaOf } from '../../../src/formats/gemini/request/json-schema.ts';
import { openThoughts, sealThoughts } from '../../../src/formats/gemini/thoughts.ts';

describe('thoughts in a signature of the Gemini wire', () => {
  const details = [{ type: 'reasoning.text' as const, text: 'Hm ✓', signature: 's', format: 'acme-v1', index: 0 }];
  it('come back as they were, in the base64 of a URL as well', () => {
    const sealed = sealThoughts(details);
    expect(openThoughts(sealed)).toEqual(details);
    expect(openThoughts(sealed.replaceAll('+', '-').replaceAll('/', '_'))).toEqual(details);
  });
  it.each(['', 'AbCd', sealThoughts(details).slice(0, -8), `${sealThoughts(details).slice(0, 30)}!`])(
    'are none where the signature is of another maker, or damaged',
    (signature) => expect(openThoughts(signature)).toBeNull(),
  );
});

describe('a schema of Google as JSON Schema', () => {
  it('changes types, and no property or value that has the name of one', () => {
    const schema = {
      type: 'OBJECT',
      properties: { type: { type: 'STRING', enum: ['OBJECT'], nullable: true }, nullable: { type: 'BOOLEAN' } },
      propertyOrdering: ['type'],
      any_of: [{ type: 'NUMBER', format: 'float' }],
    };
    expect(jsonSchemaOf(schema)).toEqual({
      type: 'object',
      properties: { type: { type: ['string', 'null'], enum: ['OBJECT', null] }, nullable: { type: 'boolean' } },
      anyOf: [{ type: 'number', format: 'float' }],
    });
  });
});

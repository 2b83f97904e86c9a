import { describe, expect, it } from 'vitest';
import { createApiKeySchema, listApiKeysQuery, updateApiKeySchema } from '../../../../src/schema/tenants/api-key.ts';
import { type FieldCase, issuesOf, testFields } from '../fields.ts';

const chars = (count: number, char = 'x') => char.repeat(count);
const notFlag = [
  ['true', 'expected boolean'],
  [null, 'expected boolean'],
] as const;
const limitForm = 'expected 0, or at least 0.000000001, which is a nano-dollar';
const timeForm = 'expected a time such as "2030-01-31T12:00:00Z"';

const both: Record<string, FieldCase> = {
  name: {
    accepts: ['x', chars(255), chars(255, '😀')],
    rejects: [
      ['', 'expected at least 1 character'],
      [chars(256), 'expected at most 255 characters'],
      [null, 'expected string'],
    ],
  },
  permissions: {
    accepts: [['inference'], ['management'], ['inference', 'management']],
    rejects: [
      [[], 'expected at least 1 item'],
      [['admin'], 'expected one of "inference", "management"'],
      ['inference', 'expected array'],
      [null, 'expected array'],
      [Array.from({ length: 11 }, () => 'inference'), 'expected at most 10 items'],
    ],
  },
  limit: {
    accepts: [null, 0, 1e-9, 0.5, 9_000_000],
    rejects: [
      [-1, limitForm],
      [9e-10, limitForm],
      [9_000_001, 'expected at most 9000000'],
      ['1', 'expected number'],
    ],
  },
  limit_reset: {
    accepts: [null, 'daily', 'weekly', 'monthly'],
    rejects: [
      ['lifetime', 'expected one of "daily", "weekly", "monthly"'],
      ['', 'expected one of "daily", "weekly", "monthly"'],
    ],
  },
  include_byok_in_limit: { accepts: [true, false], rejects: notFlag },
};

describe('a new key:', () => {
  testFields(
    createApiKeySchema(),
    { name: 'App' },
    {
      ...both,
      expires_at: {
        accepts: [
          null,
          '2030-01-31T12:00:00Z',
          '2030-01-31T12:00:00.123456Z',
          '2030-01-31T12:00:00+02:00',
          '2028-02-29T00:00:00Z',
        ],
        rejects: [
          ...[
            '',
            'tomorrow',
            '2030-01-31',
            '2030-02-30T00:00:00Z',
            '2030-01-31T12:00:00',
            '2030-01-31T12:00Z',
            '2030-01-31T25:00:00Z',
          ].map((text) => [text, timeForm] as const),
          [1893456000, timeForm],
        ],
      },
      creator_user_id: {
        accepts: [null, 'user-1', chars(255)],
        rejects: [
          ['', 'expected at least 1 character'],
          [chars(256), 'expected at most 255 characters'],
          [1, 'expected string'],
        ],
      },
      workspace_id: {
        accepts: ['00000000-0000-4000-8000-000000000001'],
        rejects: [
          ['default', 'expected a UUID'],
          ['', 'expected a UUID'],
          [null, 'expected string'],
        ],
      },
    },
  );
  it('gets defaults where a field is left out', () => {
    expect(createApiKeySchema().parse({ name: 'App' })).toEqual({
      name: 'App',
      permissions: ['inference'],
      limit: null,
      limit_reset: null,
      requests_per_minute: null,
      tokens_per_minute: null,
      requests_in_flight: null,
      allowed_models: null,
      tags: [],
      include_byok_in_limit: false,
      expires_at: null,
    });
  });
  it('needs a name, and knows no other field: a misspelt limit would be none', () => {
    expect(issuesOf(createApiKeySchema(), { limit_usd: 5 })).toEqual([
      { path: 'name', message: 'expected string' },
      { path: 'limit_usd', message: 'unknown key "limit_usd"' },
    ]);
  });
  it('reads an id of a workspace in either case', () => {
    const id = 'ABCDEF00-0000-4000-8000-00000000000F';
    expect(createApiKeySchema().parse({ name: 'App', workspace_id: id }).workspace_id).toBe(id.toLowerCase());
  });
});

describe('a change of a key:', () => {
  testFields(updateApiKeySchema(), {}, { ...both, disabled: { accepts: [true, false], rejects: notFlag } });
  it('adds no default to what is left out, and knows no other field', () => {
    expect(updateApiKeySchema().parse({})).toEqual({});
    for (const field of ['expires_at', 'workspace_id', 'hash', 'creator_user_id']) {
      expect(issuesOf(updateApiKeySchema(), { [field]: null })).toEqual([
        { path: field, message: `unknown key "${field}"` },
      ]);
    }
  });
});

describe('the query of a list of keys', () => {
  it.each<[object, object]>([
    [{}, { include_disabled: false, offset: 0, limit: 50 }],
    [{ include_disabled: 'true' }, { include_disabled: true }],
    [{ include_disabled: '1' }, { include_disabled: true }],
    [{ include_disabled: 'false' }, { include_disabled: false }],
    [{ include_disabled: '0' }, { include_disabled: false }],
    [
      { offset: '0', limit: '1' },
      { offset: 0, limit: 1 },
    ],
    [
      { offset: '7', limit: '100' },
      { offset: 7, limit: 100 },
    ],
  ])('%j is read as %j', (query, expected) => {
    expect(listApiKeysQuery().parse(query)).toMatchObject(expected);
  });
  it.each<[object, string, string]>([
    [{ unknown: 'x' }, 'unknown', 'unknown key "unknown"'],
    [{ include_disabled: 'yes' }, 'include_disabled', 'expected one of "0", "1", "true", "false"'],
    [{ offset: '-1' }, 'offset', 'expected an integer of at least 0'],
    [{ offset: '1.5' }, 'offset', 'expected an integer of at least 0'],
    [{ offset: '' }, 'offset', 'expected an integer of at least 0'],
    [{ offset: '1e3' }, 'offset', 'expected an integer of at least 0'],
    [{ offset: '9'.repeat(16) }, 'offset', 'expected an integer of at least 0'],
    [{ limit: '0' }, 'limit', 'expected an integer from 1 to 100'],
    [{ limit: '101' }, 'limit', 'expected an integer from 1 to 100'],
    [{ limit: 'x' }, 'limit', 'expected an integer from 1 to 100'],
    [{ workspace_id: 'default' }, 'workspace_id', 'expected a UUID'],
  ])('%j is refused at %s: %s', (query, path, message) => {
    expect(issuesOf(listApiKeysQuery(), query)).toEqual([{ path, message }]);
  });
});

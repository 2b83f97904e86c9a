import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { masterSecretsSchema } from '../../../../src/schema/settings/master-secrets.ts';
import { byokProviders } from '../../../../src/schema/tenants/byok-providers.ts';
import {
  createCredentialSchema,
  credentialSchema,
  listCredentialsQuery,
  updateCredentialSchema,
} from '../../../../src/schema/tenants/credential.ts';
import { describeWithShared, sharedPath } from '../../../support/reference.ts';
import { type FieldCase, issuesOf, testFields } from '../fields.ts';

const chars = (count: number, char = 'x') => char.repeat(count);
const notFlag = [
  ['true', 'expected boolean'],
  [1, 'expected boolean'],
  [null, 'expected boolean'],
] as const;
const keyForm = 'expected a key of visible ASCII characters on one line; or a JSON object, which may span lines';
const hashForm = 'expected the hash of an api key: 64 lower-case hexadecimal digits';
const items = <T>(count: number, item: T) => Array.from({ length: count }, () => item);

const texts: FieldCase = {
  accepts: [null, [], [''], ['openai/*', 'a'], [chars(256)], [chars(256, '😀')], items(100, 'a')],
  rejects: [
    ['a', 'expected array'],
    [{}, 'expected array'],
    [[1], 'expected string'],
    [[null], 'expected string'],
    [[chars(257)], 'expected at most 256 characters'],
    [items(101, 'a'), 'expected at most 100 items'],
  ],
};

const key: FieldCase = {
  accepts: [
    'x',
    'sk-proj-a_b.c/d+e=',
    'AKIA:secret with inner space',
    chars(16_384),
    '{"type":"service_account"}',
    '{\n  "private_key": "-----BEGIN-----\\nü"\n}',
  ],
  rejects: [
    ['', 'expected at least 1 character'],
    [chars(16_385), 'expected at most 16384 characters'],
    ...['s\nk', 's\0k', 'sk-ü', 'ключ', '{\n"half":', '{ü}', '[\n"a"\n]', '"\ud800"', '{"a":"\ud800"}'].map(
      (text) => [text, keyForm] as const,
    ),
    [null, 'expected string'],
    [1, 'expected string'],
    [['sk'], 'expected string'],
  ],
};

const settings: Record<string, FieldCase> = {
  key,
  name: {
    accepts: [null, '', ' ', ' Mine', 'Mine', chars(255), chars(255, '😀')],
    rejects: [
      [chars(256), 'expected at most 255 characters'],
      [chars(256, '😀'), 'expected at most 255 characters'],
      [1, 'expected string'],
    ],
  },
  disabled: { accepts: [true, false], rejects: notFlag },
  is_fallback: { accepts: [true, false], rejects: notFlag },
  allowed_models: texts,
  allowed_user_ids: texts,
  allowed_api_key_hashes: {
    accepts: [null, [], [chars(64, 'a')], ['0123456789abcdef'.repeat(4)], items(100, chars(64, 'f'))],
    rejects: [
      [[chars(63, 'a')], hashForm],
      [[chars(65, 'a')], hashForm],
      [[chars(64, 'A')], hashForm],
      [[chars(64, 'g')], hashForm],
      [[1], 'expected string'],
      [chars(64, 'a'), 'expected array'],
      [items(101, chars(64, 'f')), 'expected at most 100 items'],
    ],
  },
};

describe('a new credential:', () => {
  const slugForm = 'expected the slug of a provider: lower-case letters, digits, single hyphens or dots';
  testFields(
    createCredentialSchema(),
    { provider: 'openai', key: 'sk' },
    {
      ...settings,
      provider: {
        accepts: [...byokProviders, 'local', 'my-own.v2', chars(100)],
        rejects: [
          ...['OpenAI', '', ' openai', 'a--b', 'a/b', '__proto__'].map((value) => [value, slugForm] as const),
          [chars(101), 'expected at most 100 characters'],
          [null, 'expected string'],
          [1, 'expected string'],
        ],
      },
      workspace_id: {
        accepts: ['00000000-0000-4000-8000-000000000001', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
        rejects: [
          ['default', 'expected a UUID'],
          ['', 'expected a UUID'],
          ['00000000-0000-4000-8000-00000000000', 'expected a UUID'],
          ['00000000-0000-4000-8000-0000000000012', 'expected a UUID'],
          [null, 'expected string'],
        ],
      },
    },
  );

  it('needs a provider and a key', () => {
    expect(issuesOf(createCredentialSchema(), {}).map(({ path }) => path)).toEqual(['provider', 'key']);
    expect(issuesOf(createCredentialSchema(), [])).toEqual([{ path: '', message: 'expected object' }]);
  });
  it('names its workspace in either case', () => {
    const upper = 'AAAAAAAA-0000-4000-8000-00000000000B';
    const parsed = createCredentialSchema().parse({ provider: 'openai', key: 'sk', workspace_id: upper });
    expect(parsed.workspace_id).toBe(upper.toLowerCase());
  });
  it.each(['allowed_model', 'sort_order', 'id', 'label', 'isFallback'])(
    'may not have the unknown field %s',
    (field) => {
      const issues = issuesOf(createCredentialSchema(), { provider: 'openai', key: 'sk', [field]: [] });
      expect(issues).toEqual([{ path: field, message: `unknown key "${field}"` }]);
    },
  );
  it('never quotes its key in what it says', () => {
    const body = { provider: 'openai', key: 'sk-secret-\n-0123456789', name: 1, x: 'sk-secret' };
    expect(JSON.stringify(issuesOf(createCredentialSchema(), body))).not.toContain('secret');
  });
  it('reports a list of a million faults in a few words', () => {
    const body = { provider: 'openai', key: 'sk', allowed_models: items(1_000_000, 1) };
    expect(issuesOf(createCredentialSchema(), body).length).toBeLessThanOrEqual(21);
  });
});

describe('a change of a credential:', () => {
  testFields(updateCredentialSchema(), {}, settings);
  it('may be of nothing', () => {
    expect(updateCredentialSchema().parse({})).toEqual({});
  });
  it.each(['provider', 'workspace_id', 'sort_order', 'label', 'id'])('cannot be of %s', (field) => {
    expect(issuesOf(updateCredentialSchema(), { [field]: 'openai' })).toEqual([
      { path: field, message: `unknown key "${field}"` },
    ]);
  });
});

describe('the query of a list', () => {
  it('has defaults', () => {
    expect(listCredentialsQuery().parse({})).toEqual({ offset: 0, limit: 50 });
  });
  it.each([
    [{ limit: '1' }, { limit: 1 }],
    [{ limit: '100' }, { limit: 100 }],
    [{ offset: '0' }, { offset: 0 }],
    [{ offset: '999999999' }, { offset: 999_999_999 }],
    [{ provider: 'z-ai' }, { provider: 'z-ai' }],
  ])('%j is read', (query, expected) => {
    expect(listCredentialsQuery().parse(query)).toMatchObject(expected);
  });
  it.each([
    { limit: '0' },
    { limit: '101' },
    { limit: '-1' },
    { limit: '1.5' },
    { limit: '' },
    { limit: 'ten' },
    { offset: '-1' },
    { offset: '1e3' },
    { offset: ' 1' },
    { provider: 'Sand Box' },
    { provider: '' },
    { workspace_id: 'default' },
    { workspace_id: '' },
  ])('%j is refused', (query) => {
    expect(issuesOf(listCredentialsQuery(), query).map(({ path }) => path)).toEqual(Object.keys(query));
  });
});

describe('the list of providers', () => {
  it('is closed, sorted and of 88 slugs', () => {
    expect(byokProviders).toHaveLength(88);
    expect(new Set(byokProviders).size).toBe(88);
    expect([...byokProviders].sort()).toEqual(byokProviders);
    for (const slug of byokProviders) expect(slug).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
  });
});

describeWithShared('the list of providers, against the reference', () => {
  it('is the same', () => {
    expect(byokProviders).toEqual(JSON.parse(readFileSync(sharedPath('interface/byok-providers.json'), 'utf8')));
  });
});

describe('a shown credential', () => {
  it('keeps nothing that is not of the wire', () => {
    const record = {
      id: '00000000-0000-4000-8000-000000000001',
      workspace_id: 'w',
      provider: 'openai',
      name: null,
      label: '...',
      disabled: false,
      is_fallback: false,
      sort_order: 0,
      allowed_models: null,
      allowed_user_ids: null,
      allowed_api_key_hashes: null,
      created_at: '2026-01-01T00:00:00.000Z',
    };
    expect(credentialSchema().parse({ ...record, sealed: {}, updated_at: null })).toEqual(record);
  });
});

describe('master secrets:', () => {
  const current = chars(32);
  const tooShort = 'expected at least 32 random characters, such as `openssl rand -base64 32` prints';
  testFields(
    masterSecretsSchema(),
    { current },
    {
      current: {
        accepts: [chars(32), chars(1000), chars(32, 'ü')],
        rejects: [
          [chars(31), tooShort],
          ['', tooShort],
          [null, 'expected string'],
          [1, 'expected string'],
        ],
      },
      previous: {
        accepts: [[], [chars(32)], items(100, chars(32))],
        rejects: [
          [[chars(31)], tooShort],
          [[null], 'expected string'],
          [chars(32), 'expected array'],
          [items(101, chars(32)), 'expected at most 100 items'],
        ],
      },
    },
  );
  it('are none before, by default', () => {
    expect(masterSecretsSchema().parse({ current })).toEqual({ current, previous: [] });
  });
});

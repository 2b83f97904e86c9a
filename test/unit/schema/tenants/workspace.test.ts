import { describe, expect, it } from 'vitest';
import {
  createWorkspaceSchema,
  isSlug,
  storedWorkspaceSchema,
  updateWorkspaceSchema,
} from '../../../../src/schema/tenants/workspace.ts';
import { type FieldCase, issuesOf, testFields } from '../fields.ts';

const chars = (count: number, char = 'x') => char.repeat(count);
const notString = (value: unknown) => [value, 'expected string'] as const;
const notFlag = [
  ['true', 'expected boolean'],
  [1, 'expected boolean'],
  [null, 'expected boolean'],
] as const;
const slugForm = 'expected lower-case letters and digits, in parts joined by single hyphens';
const expectedSort = 'expected one of "price", "throughput", "latency", "exacto"';
const reference: FieldCase = {
  accepts: [null, '', 'acme/fast', chars(255)],
  rejects: [notString(1), [chars(256), 'expected at most 255 characters']],
};

/** Every field of the contract's table, at its limits and one beyond. */
const fields: Record<string, FieldCase> = {
  name: {
    accepts: ['x', ' x ', '-', chars(100), chars(100, '😀')],
    rejects: [
      ['', 'expected at least 1 character'],
      [' ', 'expected a name with a visible character'],
      [chars(101), 'expected at most 100 characters'],
      [chars(101, '😀'), 'expected at most 100 characters'],
      notString(null),
      notString(1),
    ],
  },
  slug: {
    accepts: ['a', '0', 'a-b', 'a1-b2-c3', chars(50), `${chars(48)}-y`, '00000000-0000-4000-8000-00000000000'],
    rejects: [
      ...['', '-', '-a', 'a-', 'a--b', 'A', 'a_b', 'a b', 'ä', 'a\n', 'a.b', 'a/b'].map(
        (slug) => [slug, slugForm] as const,
      ),
      [chars(51), 'expected at most 50 characters'],
      ['00000000-0000-4000-8000-000000000001', 'expected a slug that does not look like a UUID'],
      notString(null),
      notString(1),
    ],
  },
  description: {
    accepts: [null, '', chars(500), chars(500, '😀')],
    rejects: [[chars(501), 'expected at most 500 characters'], notString(1), notString([])],
  },
  default_image_model: reference,
  default_text_model: reference,
  default_provider_sort: {
    accepts: [null, 'price', 'throughput', 'latency', 'exacto'],
    rejects: ['beauty', 'Price', '', 1].map((sort) => [sort, expectedSort] as const),
  },
  io_logging_api_key_ids: {
    accepts: [null, [], [0], [1, -2, 3], Array.from({ length: 1000 }, (_, at) => at)],
    rejects: [
      [1, 'expected array'],
      [['1'], 'expected integer'],
      [[1.5], 'expected integer'],
      [[null], 'expected integer'],
      [Array.from({ length: 1001 }, (_, at) => at), 'expected at most 1000 items'],
    ],
  },
  io_logging_sampling_rate: {
    accepts: [0.0001, 0.5, 1],
    rejects: [
      [0.00009, 'expected at least 0.0001'],
      [0, 'expected at least 0.0001'],
      [-1, 'expected at least 0.0001'],
      [1.0001, 'expected at most 1'],
      [null, 'expected number'],
      ['1', 'expected number'],
    ],
  },
  is_byok_only: { accepts: [true, false], rejects: notFlag },
  is_data_discount_logging_enabled: { accepts: [true, false], rejects: notFlag },
  is_observability_broadcast_enabled: { accepts: [true, false], rejects: notFlag },
  is_observability_io_logging_enabled: { accepts: [true, false], rejects: notFlag },
};

describe('a new workspace:', () => {
  testFields(createWorkspaceSchema(), { name: 'Acme', slug: 'acme' }, fields);
  it('gets the defaults of the contract where a field is left out', () => {
    expect(createWorkspaceSchema().parse({ name: 'Acme', slug: 'acme' })).toEqual({
      name: 'Acme',
      slug: 'acme',
      description: null,
      default_image_model: null,
      default_text_model: null,
      default_provider_sort: null,
      io_logging_api_key_ids: null,
      io_logging_sampling_rate: 1,
      is_byok_only: false,
      is_data_discount_logging_enabled: true,
      is_observability_broadcast_enabled: false,
      is_observability_io_logging_enabled: false,
    });
  });
  it('needs a name and a slug, and knows no other fields', () => {
    expect(issuesOf(createWorkspaceSchema(), { id: 'x' })).toEqual([
      { path: 'name', message: 'expected string' },
      { path: 'slug', message: 'expected string' },
      { path: 'id', message: 'unknown key "id"' },
    ]);
    for (const body of [null, [], 'x', 1]) {
      expect(issuesOf(createWorkspaceSchema(), body)).toEqual([{ path: '', message: 'expected object' }]);
    }
  });
});

describe('a change of a workspace:', () => {
  testFields(updateWorkspaceSchema(), {}, fields);
  it('adds no default to what is left out', () => {
    expect(updateWorkspaceSchema().parse({})).toEqual({});
    expect(updateWorkspaceSchema().parse({ description: null })).toEqual({ description: null });
  });
  it('knows no other fields', () => {
    expect(issuesOf(updateWorkspaceSchema(), { created_by: 'me' })).toEqual([
      { path: 'created_by', message: 'unknown key "created_by"' },
    ]);
  });
});

describe('a text is a slug', () => {
  it.each<[string, boolean]>([
    ['acme', true],
    [chars(50), true],
    [chars(51), false],
    ['Acme', false],
    ['', false],
    ['00000000-0000-4000-8000-000000000001', false],
  ])('%s: %s', (text, expected) => {
    expect(isSlug(text)).toBe(expected);
  });
});

describe('a stored workspace of an earlier version', () => {
  it('may have a sort that is not known any more', () => {
    const settings = createWorkspaceSchema().parse({ name: 'Acme', slug: 'acme' });
    const stored = { id: 'x', createdAtMs: 0, createdBy: 'operator', updatedAtMs: null };
    const record = { ...stored, settings: { ...settings, default_provider_sort: 'beauty' } };
    expect(storedWorkspaceSchema().parse(record).settings.default_provider_sort).toBe('beauty');
  });
  it('may use the credentials of the operator', () => {
    const { is_byok_only: _, ...settings } = createWorkspaceSchema().parse({ name: 'Acme', slug: 'acme' });
    const record = { id: 'w', settings, createdAtMs: 0, createdBy: 'operator', updatedAtMs: null };
    expect(storedWorkspaceSchema().parse(record).settings.is_byok_only).toBe(false);
  });
});

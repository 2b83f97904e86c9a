import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { largestLimitUsd } from '../../base/money.ts';
import { isClean } from '../../base/text/clean-text.ts';
import { list, nameUpTo, textUpTo } from '../bounded.ts';
import { expectation } from '../chat/expectations.ts';
import { limitParameter, offsetParameter, type QueryFields, uuidText } from '../page.ts';
import { smallestLimitUsd } from './budget.ts';
import { allowedModelPatterns } from './key-scope.ts';

/** Patterns that are built in, by the slug of each. */
export const builtinSlugs = [
  'email',
  'phone',
  'credit-card',
  'iban',
  'ssn',
  'national-id',
  'api-key',
  'prompt-injection',
] as const;

/** The most keys that a guardrail is assigned to. */
export const maxAssignedKeys = 1_000;
const maxFilters = 100;
const maxSlugs = 100;

const action = lazily(() => z.enum(['block', 'redact', 'flag']));
const appliesTo = lazily(() => z.enum(['input', 'output', 'both']));

const contentFilter = lazily(() =>
  z.strictObject({
    /** The pattern to search for. */
    pattern: textUpTo(1_000).min(1),
    /** `regex`: the pattern is a regular expression in the syntax of RE2; `literal`: a text as it is. */
    type: z.enum(['regex', 'literal']).default('regex'),
    /** Shown where it is found. */
    label: z
      .string()
      .regex(/^[\w.: -]{1,64}$/, expectation('expected 1 to 64 letters, digits, spaces and _ - . :'))
      .default('content-filter'),
    /** The action where it is found. */
    action: action(),
    /** The side to search. */
    applies_to: appliesTo().default('both'),
    /** true: upper and lower case are the same. */
    ignore_case: z.boolean().default(false),
    /** For an expression: the most characters of a match; a longer one ends as if the text ended there. */
    max_length: z.int().min(1).max(4_096).default(256),
  }),
);
export interface ContentFilter extends z.infer<ReturnType<typeof contentFilter>> {}

const builtinFilter = lazily(() =>
  z.strictObject({
    /** The pattern. */
    slug: z.enum(builtinSlugs),
    action: action(),
    applies_to: appliesTo().default('both'),
  }),
);
export interface BuiltinFilter extends z.infer<ReturnType<typeof builtinFilter>> {}

const providerSlugs = lazily(() =>
  list(textUpTo(255).refine((slug) => slug !== '' && isClean(slug), expectation('expected the slug of a provider')))
    .min(1)
    .max(maxSlugs)
    .nullable(),
);

/** A budget for each key that the guardrail acts on: both fields, or none. */
const budgetOfKeys = lazily(() => ({
  /** The amount that each key may spend, in USD. */
  limit_usd: z.number().positive({ abort: true }).min(smallestLimitUsd).max(largestLimitUsd).nullable(),
  /** The interval after which the budget starts anew. */
  reset_interval: z.enum(['daily', 'weekly', 'monthly']).nullable(),
}));

/** The fields that a caller can set. */
const settings = lazily(() => ({
  name: nameUpTo(200),
  description: textUpTo(1_000).nullable(),
  content_filters: list(contentFilter()).max(maxFilters).nullable(),
  content_filter_builtins: list(builtinFilter())
    .max(builtinSlugs.length * 2)
    .nullable(),
  /** Patterns of the models that may be used; null: all of them. */
  allowed_models: allowedModelPatterns().nullable(),
  /** Patterns of models that may not. */
  ignored_models: allowedModelPatterns().nullable(),
  /** Slugs of the providers, or of their endpoints, that may serve; null: all of them. */
  allowed_providers: providerSlugs(),
  /** Slugs of those that may not. */
  ignored_providers: providerSlugs(),
  /** true: only endpoints with zero data retention may serve. */
  enforce_zdr: z.boolean().nullable(),
  ...budgetOfKeys(),
}));

/** Body of POST /guardrails. */
export const createGuardrailSchema = lazily(() => {
  const { name, ...rest } = settings();
  return z.strictObject({
    name,
    description: rest.description.default(null),
    content_filters: rest.content_filters.default(null),
    content_filter_builtins: rest.content_filter_builtins.default(null),
    allowed_models: rest.allowed_models.default(null),
    ignored_models: rest.ignored_models.default(null),
    allowed_providers: rest.allowed_providers.default(null),
    ignored_providers: rest.ignored_providers.default(null),
    enforce_zdr: rest.enforce_zdr.default(null),
    limit_usd: rest.limit_usd.default(null),
    reset_interval: rest.reset_interval.default(null),
    /** Id of the workspace whose requests it can be imposed on. Default: the caller's. */
    workspace_id: uuidText().optional(),
  });
});
export interface CreateGuardrail extends z.infer<ReturnType<typeof createGuardrailSchema>> {}
export interface GuardrailFields extends z.input<ReturnType<typeof createGuardrailSchema>> {}

/** Body of PATCH /guardrails/{id}: an absent field does not change, null clears, an array replaces. */
export const updateGuardrailSchema = lazily(() => z.strictObject(settings()).partial());
export interface UpdateGuardrail extends z.infer<ReturnType<typeof updateGuardrailSchema>> {}
export interface GuardrailChanges extends z.input<ReturnType<typeof updateGuardrailSchema>> {}

/** Query of GET /guardrails. */
export const listGuardrailsQuery = lazily(() =>
  z.strictObject({ offset: offsetParameter(), limit: limitParameter(), workspace_id: uuidText().optional() }),
);
export interface ListGuardrailsQuery extends z.infer<ReturnType<typeof listGuardrailsQuery>> {}
export interface ListGuardrailsFields extends QueryFields<z.input<ReturnType<typeof listGuardrailsQuery>>> {}

export const guardrailSettingsSchema = lazily(() => {
  const { limit_usd: limit, reset_interval: interval, ...rest } = settings();
  // Guardrails of earlier versions have no budget.
  return z.strictObject({ ...rest, limit_usd: limit.default(null), reset_interval: interval.default(null) });
});
export interface GuardrailSettings extends z.infer<ReturnType<typeof guardrailSettingsSchema>> {}

const storedGuardrail = lazily(() =>
  z.strictObject({
    id: z.string(),
    settings: guardrailSettingsSchema(),
    /** An operator's is not changed by a caller bound to the workspace. */
    setBy: z.enum(['operator', 'workspace']),
    /** true: it acts on every request of the workspace. */
    ofWorkspace: z.boolean(),
    /** SHA-256 of the keys that it acts on, hex. */
    keyHashes: z.array(z.string()),
    /**
     * The steps that all its expressions may take; see `limits.guardrailSteps`. null: an earlier version has written
     * it.
     */
    steps: z.int().nullable().default(null),
    /** Epoch ms. */
    createdAtMs: z.int(),
    /** Epoch ms; null: never updated. */
    updatedAtMs: z.int().nullable(),
  }),
);
export interface StoredGuardrail extends z.infer<ReturnType<typeof storedGuardrail>> {}

/** All guardrails of a workspace. They are one record, which is read together with the budgets. */
export const storedGuardrailsSchema = lazily(() => z.strictObject({ guardrails: z.array(storedGuardrail()) }));
export interface StoredGuardrails extends z.infer<ReturnType<typeof storedGuardrailsSchema>> {}

/** A guardrail in responses. */
export const guardrailSchema = lazily(() => {
  const { name, ...rest } = settings();
  return z.object({
    id: z.string(),
    name,
    ...rest,
    workspace_id: z.string(),
    /** true: it acts on every request of the workspace. */
    is_assigned_to_workspace: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().nullable(),
  });
});
export interface Guardrail extends z.infer<ReturnType<typeof guardrailSchema>> {}

/** Body of POST /guardrails/{id}/assignments/keys, and of `…/remove`. */
export const keyAssignmentSchema = lazily(() =>
  z.strictObject({
    key_hashes: list(
      z
        .string()
        .regex(/^[0-9a-fA-F]{64}$/, expectation('expected the hash of an API key'))
        .transform((hash) => hash.toLowerCase()),
    )
      .min(1)
      .max(100),
  }),
);
export interface KeyAssignment extends z.infer<ReturnType<typeof keyAssignmentSchema>> {}

/** Body of POST /guardrails/{id}/assignments/workspaces, and of `…/remove`. */
export const workspaceAssignmentSchema = lazily(() =>
  z.strictObject({ workspace_ids: list(uuidText()).min(1).max(100) }),
);
export interface WorkspaceAssignment extends z.infer<ReturnType<typeof workspaceAssignmentSchema>> {}

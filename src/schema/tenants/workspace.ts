import * as z from 'zod';
import { isUuid } from '../../base/ids.ts';
import { lazily } from '../../base/lazily.ts';
import { list, nameUpTo, textUpTo } from '../bounded.ts';
import { expectation } from '../chat/expectations.ts';
import { sortBy } from '../chat/preferences.ts';
import { integer } from '../scalars.ts';

export const maxNameChars = 100;
export const maxSlugChars = 50;
export const maxDescriptionChars = 500;
/** Limits that the interface document does not set: lengths of a model's slug and a sort, and of a list of keys. */
export const maxReferenceChars = 255;
export const maxLoggedKeys = 1000;

const slugPattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Tells whether a text can be a workspace's slug. */
export function isSlug(text: string): boolean {
  return text.length <= maxSlugChars && slugPattern.test(text) && !isUuid(text);
}

/** A slug is ASCII, so that `max` can count code units. */
const slug = lazily(() =>
  z
    .string()
    .max(maxSlugChars)
    .regex(slugPattern, expectation('expected lower-case letters and digits, in parts joined by single hyphens'))
    // A path names a workspace by id or slug, so a slug that looks like an id could hide another workspace.
    .refine((text) => !isUuid(text), expectation('expected a slug that does not look like a UUID')),
);

const reference = lazily(() => textUpTo(maxReferenceChars).nullable());

/** Stricter than what is stored: earlier versions took blank names, and their records are still read. */
const givenName = lazily(() => nameUpTo(maxNameChars));

/** Stricter than what is stored: earlier versions took any word, which then sorted nothing. */
const givenSort = lazily(() => sortBy().nullable());

/** The fields that a caller can set. */
const fields = lazily(() => ({
  name: textUpTo(maxNameChars).min(1),
  slug: slug(),
  description: textUpTo(maxDescriptionChars).nullable(),
  default_image_model: reference(),
  default_text_model: reference(),
  /** The order of endpoints for requests that set none. */
  default_provider_sort: reference(),
  /** Restricts I/O logging to these keys; null: all. */
  io_logging_api_key_ids: list(integer()).max(maxLoggedKeys).nullable(),
  io_logging_sampling_rate: z.number().min(0.0001).max(1),
  /** true: its requests use its own BYOK credentials alone, and nothing of the operator's. Only an operator sets it. */
  is_byok_only: z.boolean(),
  is_data_discount_logging_enabled: z.boolean(),
  is_observability_broadcast_enabled: z.boolean(),
  is_observability_io_logging_enabled: z.boolean(),
}));

export const workspaceSettingsSchema = lazily(() => z.strictObject(fields()));
export interface WorkspaceSettings extends z.infer<ReturnType<typeof workspaceSettingsSchema>> {}

/** Body of POST /workspaces. @see rulings, "Defaults" */
export const createWorkspaceSchema = lazily(() =>
  z.strictObject({
    ...fields(),
    name: givenName(),
    description: fields().description.default(null),
    default_image_model: reference().default(null),
    default_text_model: reference().default(null),
    default_provider_sort: givenSort().default(null),
    io_logging_api_key_ids: fields().io_logging_api_key_ids.default(null),
    io_logging_sampling_rate: fields().io_logging_sampling_rate.default(1),
    is_byok_only: z.boolean().default(false),
    is_data_discount_logging_enabled: z.boolean().default(true),
    is_observability_broadcast_enabled: z.boolean().default(false),
    is_observability_io_logging_enabled: z.boolean().default(false),
  }),
);

/** The same before defaults are filled in. */
export interface WorkspaceFields extends z.input<ReturnType<typeof createWorkspaceSchema>> {}

/** Body of PATCH /workspaces/{id}: an absent field does not change, null clears, an array replaces. */
export const updateWorkspaceSchema = lazily(() =>
  workspaceSettingsSchema().extend({ name: givenName(), default_provider_sort: givenSort() }).partial(),
);
export interface UpdateWorkspace extends z.infer<ReturnType<typeof updateWorkspaceSchema>> {}

/** Body of PUT /workspaces/{slug}: as of PATCH; the path has the slug. A new one is named after it unless it has a name. */
export const putWorkspaceSchema = lazily(() => updateWorkspaceSchema().omit({ slug: true }));
export interface PutWorkspace extends z.infer<ReturnType<typeof putWorkspaceSchema>> {}

export const storedWorkspaceSchema = lazily(() =>
  z.strictObject({
    id: z.string(),
    /** Records of earlier versions say nothing of BYOK. */
    settings: workspaceSettingsSchema().extend({ is_byok_only: z.boolean().default(false) }),
    /** Epoch ms. */
    createdAtMs: z.int(),
    /** A user of the host app, `key:<first 8 digits of an api key's hash>`, or `operator`. */
    createdBy: z.string(),
    /** Epoch ms; null: never updated. */
    updatedAtMs: z.int().nullable(),
  }),
);
export interface StoredWorkspace extends z.infer<ReturnType<typeof storedWorkspaceSchema>> {}

/** A workspace in responses. */
export const workspaceSchema = lazily(() =>
  z.object({
    id: z.uuid(),
    ...fields(),
    created_at: z.iso.datetime(),
    created_by: z.string(),
    updated_at: z.iso.datetime().nullable(),
  }),
);
export interface Workspace extends z.infer<ReturnType<typeof workspaceSchema>> {}

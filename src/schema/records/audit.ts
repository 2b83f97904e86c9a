import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { fromText, toText } from '../instant.ts';
import { limitParameter, offsetParameter, type QueryFields, uuidText } from '../page.ts';

/** The types of resources that management operations change. */
export const auditedTypes = ['workspace', 'budget', 'api_key', 'byok', 'guardrail'] as const;
/** The type of a thing whose changes are kept. */
export type AuditedType = (typeof auditedTypes)[number];

/** Changed fields alone; null: the resource was not there. */
const state = lazily(() => z.record(z.string(), z.unknown()).nullable());

/** One change, as the log keeps it and GET /audit shows it. */
export const auditEntrySchema = lazily(() =>
  z.object({
    /** Ordered by time. */
    id: z.string(),
    /** ISO 8601. */
    created_at: z.iso.datetime(),
    /** Name of the operation, such as `updateKeys`. */
    operation: z.string(),
    /** Type of the changed resource. */
    resource_type: z.enum(auditedTypes),
    /** null: it was to be made, and nobody knows whether it was. The id of a budget is its interval. */
    resource_id: z.string().nullable(),
    /** The workspace of the resource. */
    workspace_id: z.string(),
    /** The actor of the change. */
    actor: z.object({
      /** `operator`: manages every workspace. `workspace`: is bound to one. */
      type: z.enum(['operator', 'workspace']),
      /** SHA-256 of the actor's API key. null: the host app itself, or an operator's, where a tenant asks. */
      api_key_hash: z.string().nullable(),
      /** The host app's id of the user. */
      user_id: z.string().nullable(),
      /** The actor's workspace; null: an operator's, where a tenant asks. */
      workspace_id: z.string().nullable(),
    }),
    /** The header `x-request-id` of the request. */
    request_id: z.string().nullable(),
    /** `unknown`: the process or the store failed in the middle, and the change may have been made or not. */
    outcome: z.enum(['done', 'unknown']),
    /** The fields that changed, as they were; null: it was not there. */
    before: state(),
    /** The fields that changed, as they are; null: it is gone, or nobody knows. */
    after: state(),
  }),
);
/** One change of a workspace, a key, a budget or the like, as the audit log keeps it. */
export interface AuditEntry extends z.infer<ReturnType<typeof auditEntrySchema>> {}

const text = () => z.string().min(1).max(256).optional();

/** Query of GET /audit. */
export const listAuditQuery = lazily(() =>
  z.strictObject({
    offset: offsetParameter(),
    limit: limitParameter(),
    workspace_id: uuidText().optional(),
    /** Hash of the actor's API key, or its user id. */
    actor: text(),
    operation: text(),
    resource_type: z.enum(auditedTypes).optional(),
    resource_id: text(),
    /** From this time on. */
    from: fromText().optional(),
    /** Before this time. */
    to: toText().optional(),
  }),
);
export interface ListAuditQuery extends z.infer<ReturnType<typeof listAuditQuery>> {}
export interface ListAuditFields extends QueryFields<z.input<ReturnType<typeof listAuditQuery>>> {}

/** Option `audit`. */
export const auditSettingsSchema = lazily(() =>
  z.strictObject({
    /** true: each change that a management operation makes is written into the store, and `GET /audit` shows it. So it is with `onAudit`. */
    enabled: z.boolean().default(false),
    /**
     * The most changes that are kept: of operators, and of each workspace's own callers. The oldest are removed first.
     */
    maxEntries: z.int().min(1).default(10_000),
    /** The time for which a change is kept. */
    maxAgeMs: z.int().min(1).default(7_776_000_000),
  }),
);
export interface AuditSettings extends z.infer<ReturnType<typeof auditSettingsSchema>> {}

import * as z from 'zod';
import type { Clock } from '../base/clock.ts';
import { definedOnly } from '../base/defined-only.ts';
import { GatewayError } from '../base/errors.ts';
import { type Ids, isUuid } from '../base/ids.ts';
import { lazily } from '../base/lazily.ts';
import { refusal } from '../base/refusal.ts';
import { defaultWorkspaceId, parseWorkspaceId, type WorkspaceId } from '../call/workspace.ts';
import {
  createWorkspaceSchema,
  isSlug,
  storedWorkspaceSchema,
  type UpdateWorkspace,
  type WorkspaceSettings,
} from '../schema/tenants/workspace.ts';
import { type FindsWorkspaces, noWorkspace } from './access.ts';
import { createCache } from './cache.ts';
import { ConflictError, createCollection } from './collection.ts';
import { deletionOf } from './deletion.ts';
import { createRanks } from './rank.ts';
import type { Address, Page, Storage } from './storage/storage.ts';

const recordSchema = lazily(() =>
  storedWorkspaceSchema().extend({
    id: z.custom<WorkspaceId>((id) => typeof id === 'string' && parseWorkspaceId(id) !== null),
  }),
);
export interface WorkspaceRecord extends z.infer<ReturnType<typeof recordSchema>> {}

/**
 * Workspaces by id and by slug. The default workspace always exists: it is created at the first use, once, however many
 * instances need it at the same time.
 */
export interface Workspaces extends FindsWorkspaces<WorkspaceRecord> {
  /** Finds a workspace by id, in upper or lower case, or by slug; null: there is no such workspace. */
  find(idOrSlug: string): Promise<WorkspaceRecord | null>;
  /**
   * Finds a workspace by id, from a cache of a few seconds. Returns no promise when the cache has the workspace.
   * Returns null also for the default workspace until something had to be written for it.
   */
  known(id: WorkspaceId): WorkspaceRecord | null | Promise<WorkspaceRecord | null>;
  /** Lists the workspaces in order of creation; the default workspace is the first. */
  list(page: Page): Promise<{ records: WorkspaceRecord[]; total: number }>;
  /**
   * @throws GatewayError invalid_request (400): the slug is taken. Of two simultaneous creations exactly one succeeds
   */
  create(settings: WorkspaceSettings, createdBy: string): Promise<WorkspaceRecord>;
  /**
   * Absent settings stay unchanged; `updatedAtMs` changes also without any setting.
   * @throws GatewayError invalid_request (400): the slug is taken; not_found (404)
   */
  update(id: WorkspaceId, given: UpdateWorkspace): Promise<WorkspaceRecord>;
  /**
   * Deletes a workspace with all its contents. After the first step, nothing new can be written there. A deletion that
   * was interrupted can be repeated, and completes the first one.
   * @throws GatewayError invalid_request (400): the default workspace, or one with live api keys; not_found (404)
   */
  delete(id: WorkspaceId): Promise<void>;
}

export interface WorkspacesDeps {
  storage: Storage;
  clock: Clock;
  ids: Ids;
  /** The time in ms for which a cached workspace is used before the store is read again. */
  cacheMs: number;
  countLiveKeys: (id: WorkspaceId) => Promise<number>;
  /** Functions that delete the contents of a workspace, in this order. Each may run twice. */
  contents: readonly ((id: WorkspaceId) => Promise<void>)[];
  /**
   * Deletes the spending. Called once no other instance can have the budgets in its cache any more: until then, a
   * request there must find the amount that was spent.
   */
  forgetSpending: (id: WorkspaceId) => Promise<void>;
}

const partition = 'workspaces';
/** The time beyond that of the caches, in which a request that was admitted before holds its money. */
const graceMs = 5_000;
const defaultSlug = 'default';

/** The claim of a slug names its workspace. Claim and workspace are written in one step, so no slug is used twice. */
function claimOf(slug: string): Address {
  return { partition, kind: 'workspace-slug', id: slug };
}

export function createWorkspaces(deps: WorkspacesDeps): Workspaces {
  const { storage, clock, ids } = deps;
  const records = createCollection<WorkspaceRecord>(partition, { storage, kind: 'workspace', schema: recordSchema });
  const cache = createCache({ clock, ttlMs: deps.cacheMs, load: (id) => records.get(id as WorkspaceId) });
  const nextRank = createRanks(clock);

  const get = (id: WorkspaceId) => (id === defaultWorkspaceId ? theDefault() : records.get(id));

  /** @returns null: the id or the slug already exists */
  async function write(id: WorkspaceId, settings: WorkspaceSettings, createdBy: string, rank = nextRank()) {
    const createdAtMs = clock.now();
    const record: WorkspaceRecord = { id, settings, createdAtMs, createdBy, updatedAtMs: null };
    const claim = { at: claimOf(settings.slug), expect: null, value: id };
    return (await records.create(id, record, { rank, also: [claim] })) ? record : null;
  }

  async function theDefault(): Promise<WorkspaceRecord> {
    const found = await records.get(defaultWorkspaceId);
    if (found) return found;
    const settings = createWorkspaceSchema().parse({ name: 'Default', slug: defaultSlug });
    // Before every other, also one that an instance with a slower clock makes right after it.
    const written = await write(defaultWorkspaceId, settings, 'operator', 0);
    const made = written ?? (await records.get(defaultWorkspaceId));
    if (made) return made;
    throw new GatewayError('internal', 'A stored record is damaged', {
      cause: new Error('the slug of the default workspace is taken, but it does not exist'),
    });
  }

  async function find(idOrSlug: string): Promise<WorkspaceRecord | null> {
    if (isUuid(idOrSlug)) return get(idOrSlug.toLowerCase() as WorkspaceId);
    if (!isSlug(idOrSlug)) return null;
    const id = await storage.get(claimOf(idOrSlug));
    if (id !== null) return get(id as WorkspaceId);
    if (idOrSlug !== defaultSlug) return null;
    const made = await theDefault();
    return made.settings.slug === defaultSlug ? made : null;
  }

  /** Marks the beginning of a deletion, also if an earlier deletion was interrupted or is still in flight. */
  async function beginDeletion(id: WorkspaceId, mark: string): Promise<void> {
    for (let race = 0; race < 20; race++) {
      const earlier = await storage.get(deletionOf(id));
      if (await storage.commit([{ at: deletionOf(id), expect: earlier, value: mark }])) return;
    }
    throw new GatewayError('unavailable', 'Too many deletions of the same workspace at once; try again', {
      retryAfterMs: 1000,
    });
  }

  return {
    find,
    known: (id) => cache.get(id),
    async list(page) {
      await theDefault();
      return records.list(page);
    },
    async create(settings, createdBy) {
      // The default workspace must exist first, so that no other workspace gets its slug.
      await theDefault();
      for (let race = 0; race < 20; race++) {
        const record = await write(ids.uuid() as WorkspaceId, settings, createdBy);
        if (record) return record;
        if ((await storage.get(claimOf(settings.slug))) !== null) throw slugTaken(settings.slug);
      }
      throw new GatewayError('unavailable', 'No workspace could be made; try again', { retryAfterMs: 1000 });
    },
    async update(id, given) {
      // A body that a host has parsed may contain undefined, which JSON cannot.
      const changes = definedOnly(given);
      const before = await get(id);
      if (!before) throw noWorkspace();
      try {
        const after = await records.update(
          id,
          (record) => ({ ...record, settings: { ...record.settings, ...changes }, updatedAtMs: clock.now() }),
          (old, now) => moveClaim(id, old.settings.slug, now.settings.slug),
        );
        if (after) return after;
        throw noWorkspace();
      } catch (error) {
        throw error instanceof ConflictError ? slugTaken(changes.slug ?? '') : error;
      } finally {
        cache.forget(id);
      }
    },
    async delete(id) {
      if (id === defaultWorkspaceId) {
        throw new GatewayError('invalid_request', 'The default workspace cannot be deleted');
      }
      if (!(await records.get(id))) throw noWorkspace();
      // Checked before the mark, which refuses every request: a refused deletion should disturb nobody.
      const early = await deps.countLiveKeys(id);
      if (early > 0) throw hasLiveKeys(early);
      const mark = ids.uuid();
      await beginDeletion(id, mark);
      const live = await deps.countLiveKeys(id);
      if (live > 0) {
        // The mark stays if another deletion has begun meanwhile: that one counts the keys itself, under its own mark.
        await storage.commit([{ at: deletionOf(id), expect: mark, value: null }]);
        throw hasLiveKeys(live);
      }
      for (const deleteContent of deps.contents) await deleteContent(id);
      try {
        await records.delete(id, ({ settings }) => [{ at: claimOf(settings.slug), expect: id, value: null }]);
      } finally {
        cache.forget(id);
      }
      // If that fails, or the process ends before, sums stay that nobody reads.
      const forget = () => void deps.forgetSpending(id).catch(() => undefined);
      clock.after(deps.cacheMs + graceMs, forget, { isIdle: true });
    },
  };
}

function moveClaim(id: WorkspaceId, from: string, to: string) {
  if (from === to) return [];
  return [
    { at: claimOf(from), expect: id, value: null },
    { at: claimOf(to), expect: null, value: id },
  ];
}

function slugTaken(slug: string): GatewayError {
  const message = `"${slug}" is the slug of another workspace`;
  return refusal('invalid_request', [{ path: 'slug', message }]);
}

function hasLiveKeys(count: number): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The workspace has ${count} live API key${count === 1 ? '' : 's'}; delete or disable ${count === 1 ? 'it' : 'them'} first`,
    { metadata: { live_api_keys: count } },
  );
}

declare const brand: unique symbol;

/**
 * Names the workspace on whose behalf something is read or written. A type of its own, so that no other text, and no
 * forgotten argument, takes its place: what a handle shows depends on it alone.
 */
export type WorkspaceId = string & { readonly [brand]: 'WorkspaceId' };

/** Letters, digits, `-` and `_`: stands inside the keys of stores, where `:` and `{}` have a meaning. */
const pattern = /^[A-Za-z0-9_-]{1,64}$/;

/** null: the text cannot be the id of a workspace. */
export function parseWorkspaceId(text: string): WorkspaceId | null {
  return pattern.test(text) ? (text as WorkspaceId) : null;
}

/**
 * The workspace that exists from the start and belongs to whoever names no other. Its id is the same everywhere, so that
 * several instances on one store agree on it without asking.
 */
export const defaultWorkspaceId = '00000000-0000-4000-8000-000000000001' as WorkspaceId;

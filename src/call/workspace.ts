declare const brand: unique symbol;

/**
 * Names the workspace whose data is read or written. Only this id decides what a store handle shows. The id has its own
 * type, so that the compiler rejects another string or a missing argument.
 */
export type WorkspaceId = string & { readonly [brand]: 'WorkspaceId' };

/** Letters, digits, `-` and `_`: the id becomes a part of store keys, where `:` and `{}` have a meaning. */
const pattern = /^[A-Za-z0-9_-]{1,64}$/;

/** @returns null: the text cannot be the id of a workspace */
export function parseWorkspaceId(text: string): WorkspaceId | null {
  return pattern.test(text) ? (text as WorkspaceId) : null;
}

/**
 * The workspace that exists from the start, for callers that name no other. Its id is a constant, so that several
 * instances on one store agree on it.
 */
export const defaultWorkspaceId = '00000000-0000-4000-8000-000000000001' as WorkspaceId;

import type { WorkspaceId } from '../../call/workspace.ts';
import { type Cooldown, cooldownUntil, endProbe, succeed } from './cooldown.ts';
import type { Entry } from './entry.ts';

/** The cooldown of an endpoint for one workspace; undefined: it has none of its own. */
export function ownCooldown({ witnesses }: Entry, workspaceId: WorkspaceId | null): Cooldown | undefined {
  return witnesses === null || workspaceId === null ? undefined : witnesses.get(workspaceId)?.cooldown;
}

/** Tells whether an endpoint is in cooldown for all workspaces or for one of them. */
export function coolsDown({ cooldown, witnesses }: Entry, nowMs: number): boolean {
  if (cooldownUntil(cooldown, nowMs) !== undefined) return true;
  const own = [...(witnesses?.values() ?? [])];
  return own.some((witness) => cooldownUntil(witness.cooldown, nowMs) !== undefined);
}

/** The cooldowns of an endpoint that are on: for all workspaces, and for single ones. */
export function cooldownsOf(
  { cooldown, witnesses }: Entry,
  nowMs: number,
): { workspaceId: WorkspaceId | null; untilMs: number }[] {
  const own = [...(witnesses ?? [])].map(([id, witness]): [WorkspaceId | null, Cooldown] => [id, witness.cooldown]);
  return [[null, cooldown] as [WorkspaceId | null, Cooldown], ...own].flatMap(([workspaceId, one]) => {
    const untilMs = cooldownUntil(one, nowMs);
    return untilMs === undefined ? [] : [{ workspaceId, untilMs }];
  });
}

export function endProbes(entry: Entry, workspaceId: WorkspaceId | null): void {
  endProbe(entry.cooldown);
  const own = ownCooldown(entry, workspaceId);
  if (own !== undefined) endProbe(own);
}

export function succeedFor(entry: Entry, workspaceId: WorkspaceId | null, nowMs: number): void {
  entry.round++;
  const own = ownCooldown(entry, workspaceId);
  if (own !== undefined) succeed(own, nowMs);
}

/** @returns when the workspace may use the endpoint again; undefined: now */
export function cooldownFor(entry: Entry, workspaceId: WorkspaceId | null, nowMs: number): number | undefined {
  const forAll = cooldownUntil(entry.cooldown, nowMs);
  const own = ownCooldown(entry, workspaceId);
  if (own === undefined) return forAll;
  const forIt = cooldownUntil(own, nowMs);
  return forAll === undefined || (forIt !== undefined && forIt > forAll) ? forIt : forAll;
}

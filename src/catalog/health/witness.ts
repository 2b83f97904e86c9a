import type { WorkspaceId } from '../../call/workspace.ts';
import type { CooldownSettings } from '../../schema/settings/settings.ts';
import { ask, begin, createCooldown, endProbe, fail, isAsked, isTripped } from './cooldown.ts';
import type { Entry, Witness } from './entry.ts';

/** The most workspaces that are remembered for an endpoint, the latest ones. Two are enough to tell that it is down. */
const maxWitnesses = 100;

/** The witness of a workspace at an endpoint. Makes it if there is none. */
export function witnessOf(entry: Entry, workspaceId: WorkspaceId): Witness {
  entry.witnesses ??= new Map();
  const known = entry.witnesses.get(workspaceId);
  if (known !== undefined) return known;
  const witness = { cooldown: createCooldown(), failedMs: 0, failures: 0, round: entry.round };
  entry.witnesses.set(workspaceId, witness);
  if (entry.witnesses.size > maxWitnesses) {
    const [oldest] = entry.witnesses.keys();
    entry.witnesses.delete(oldest as WorkspaceId);
  }
  return witness;
}

/** Notes a failed attempt of a workspace, which its request may have provoked. */
export function failFor(entry: Entry, workspaceId: WorkspaceId, nowMs: number, settings: CooldownSettings): void {
  const { cooldown } = entry;
  const witness = noteFailure(entry, workspaceId, nowMs);
  if (!isTripped(cooldown)) {
    fail(witness.cooldown, nowMs, settings);
    weigh(entry, nowMs, settings);
    return;
  }
  endProbe(cooldown);
  if (cooldown.untilMs > nowMs) return;
  // This was the attempt after a cooldown. The next attempt belongs to another workspace.
  endProbe(witness.cooldown);
  begin(witness.cooldown, nowMs, settings, Math.max(witness.cooldown.lengthMs, cooldown.lengthMs) * 2);
  if (inRound(entry).length < 2) return;
  begin(cooldown, nowMs, settings, cooldown.lengthMs * 2);
  entry.round++;
}

/** Notes a failed attempt of a workspace, which no request can provoke. */
export function failForAll(entry: Entry, workspaceId: WorkspaceId, nowMs: number, settings: CooldownSettings): void {
  fail(noteFailure(entry, workspaceId, nowMs).cooldown, nowMs, settings);
  entry.provenMs = nowMs;
  fail(entry.cooldown, nowMs, settings);
}

/** Notes that a provider asked a workspace for a pause. */
export function askFor(entry: Entry, workspaceId: WorkspaceId, nowMs: number, untilMs: number): void {
  ask(witnessOf(entry, workspaceId).cooldown, nowMs, untilMs);
  weighPauses(entry, nowMs);
}

/** Starts the cooldowns for all workspaces for which there are enough witnesses, also those of other instances. */
export function weigh(entry: Entry, nowMs: number, settings: CooldownSettings): void {
  weighPauses(entry, nowMs);
  const { cooldown } = entry;
  if (isTripped(cooldown)) return;
  const { failuresToCooldown } = settings;
  // A workspace counts for at most half of the needed failures, however often it fails.
  const most = Math.ceil(failuresToCooldown / 2);
  let [workspaces, failures] = [0, cooldown.failures];
  for (const witness of entry.witnesses?.values() ?? []) {
    const count = failuresOf(witness, entry, most);
    if (count === 0) continue;
    workspaces++;
    failures += Math.min(count, most);
  }
  if (workspaces < 2 || failures < failuresToCooldown) return;
  begin(cooldown, nowMs, settings, settings.cooldownMs);
  entry.round++;
}

/** Tells whether a workspace has met failures since `sinceMs`, or enough others have. @param workspaceId  null: any */
export function isWitnessed(entry: Entry, workspaceId: WorkspaceId | null, sinceMs: number): boolean {
  const { witnesses, provenMs } = entry;
  if (witnesses === null || workspaceId === null || provenMs >= sinceMs) return true;
  if ((witnesses.get(workspaceId)?.failedMs ?? -1) >= sinceMs) return true;
  let others = 0;
  for (const { failedMs } of witnesses.values()) if (failedMs >= sinceMs) others++;
  return others >= 2;
}

function noteFailure(entry: Entry, workspaceId: WorkspaceId, nowMs: number): Witness {
  const witness = witnessOf(entry, workspaceId);
  if (witness.round !== entry.round) {
    witness.round = entry.round;
    witness.failures = 0;
  }
  witness.failures++;
  witness.failedMs = nowMs;
  return witness;
}

function inRound({ witnesses, round }: Entry): Witness[] {
  return [...(witnesses?.values() ?? [])].filter((one) => one.round === round && one.failures > 0);
}

/** The failures of a witness. Another instance tells only the cooldown of its workspaces, not their failures. */
function failuresOf({ round, failures, cooldown }: Witness, entry: Entry, most: number): number {
  const isResting = isTripped(cooldown) && cooldown.sinceMs > entry.cooldown.okMs;
  return Math.max(round === entry.round ? failures : 0, isResting ? most : 0);
}

/** Starts a pause for all when two workspaces were asked for one. It ends with the earlier of the two. */
function weighPauses(entry: Entry, nowMs: number): void {
  let [latest, second] = [0, 0];
  for (const { cooldown } of entry.witnesses?.values() ?? []) {
    const { askedSinceMs, askedUntilMs } = cooldown;
    // A success of any workspace since then shows that the pause was not for all.
    if (!isAsked(cooldown) || askedSinceMs <= entry.cooldown.okMs) continue;
    if (askedUntilMs > latest) [latest, second] = [askedUntilMs, latest];
    else second = Math.max(second, askedUntilMs);
  }
  ask(entry.cooldown, nowMs, second);
}

import type { CooldownSettings } from '../../schema/settings/settings.ts';

/**
 * The time that the first attempt after a cooldown has to report its outcome. After that, another attempt may begin.
 */
const probeMs = 60_000;

/**
 * The cooldowns of one key. Times are in epoch ms. There are two kinds:
 * - the cooldown after failures in a row, until the next success. After `untilMs` it is half open: one attempt at a
 *   time.
 * - the requested cooldown (`asked…`), such as by a Retry-After, until its end.
 *
 * Each is on while it began later than the event that ended it. When several instances know of cooldowns, the one that
 * began last wins with all its fields, and so does the last end. The result does not depend on the order of the merges,
 * nor on their number.
 */
export interface Cooldown {
  /** The time of the last success. */
  okMs: number;
  /** The start of the cooldown after failures, which is on while this is later than `okMs`. */
  sinceMs: number;
  untilMs: number;
  /** The length of this cooldown. The next one is twice as long. */
  lengthMs: number;
  askedSinceMs: number;
  askedUntilMs: number;
  /** The time when a success ended the requested cooldown, which is on while this is earlier than `askedSinceMs`. */
  askedClearedMs: number;
  /** Failures in a row. Counts this instance only. */
  failures: number;
  /** The start of the current attempt after a cooldown; 0: there is none. This instance only. */
  probeSinceMs: number;
  /** true: an attempt began after the requested cooldown did. Its success ends that cooldown. This instance only. */
  hasStartedSinceAsked: boolean;
}

export function createCooldown(): Cooldown {
  return {
    okMs: 0,
    sinceMs: 0,
    untilMs: 0,
    lengthMs: 0,
    askedSinceMs: 0,
    askedUntilMs: 0,
    askedClearedMs: 0,
    failures: 0,
    probeSinceMs: 0,
    hasStartedSinceAsked: false,
  };
}

/** Tells whether failures in a row started a cooldown, and no success has ended it. */
export function isTripped({ sinceMs, okMs }: Cooldown): boolean {
  return sinceMs > okMs;
}

/** Tells whether a pause was requested, and no success has ended it. */
export function isAsked({ askedSinceMs, askedClearedMs }: Cooldown): boolean {
  return askedSinceMs > askedClearedMs;
}

/** Tells whether the cooldown after failures is on and not yet half open. */
export function coolsDownAfterFailures(cooldown: Cooldown, nowMs: number): boolean {
  return isTripped(cooldown) && cooldown.untilMs > nowMs;
}

/** @returns when the key may be used again; undefined: now */
export function cooldownUntil(cooldown: Cooldown, nowMs: number): number | undefined {
  let latestMs = isAsked(cooldown) ? cooldown.askedUntilMs : 0;
  if (isTripped(cooldown)) {
    latestMs = Math.max(latestMs, cooldown.untilMs > nowMs ? cooldown.untilMs : probedUntil(cooldown, nowMs));
  }
  return latestMs > nowMs ? latestMs : undefined;
}

/** Until when the current attempt keeps others away; 0: there is no such attempt. */
function probedUntil({ probeSinceMs }: Cooldown, nowMs: number): number {
  // If the clock was set back, this time must not become longer.
  return probeSinceMs > 0 && probeSinceMs <= nowMs ? probeSinceMs + probeMs : 0;
}

/**
 * Begins an attempt.
 * @returns false: another attempt is finding out whether the endpoint works again, so this one should not begin
 */
export function start(cooldown: Cooldown, nowMs: number): boolean {
  cooldown.hasStartedSinceAsked = true;
  if (!isTripped(cooldown) || cooldown.untilMs > nowMs) return true;
  if (probedUntil(cooldown, nowMs) > nowMs) return false;
  cooldown.probeSinceMs = nowMs;
  return true;
}

/** Ends an attempt that tells nothing about the endpoint. */
export function endProbe(cooldown: Cooldown): void {
  cooldown.probeSinceMs = 0;
}

export function succeed(cooldown: Cooldown, nowMs: number): void {
  // Later than the cooldown that the success ends, also if the clock was set back, or in the same millisecond.
  end(cooldown, Math.max(cooldown.sinceMs, nowMs));
  if (isAsked(cooldown) && cooldown.hasStartedSinceAsked) {
    endAsked(cooldown, Math.max(cooldown.askedSinceMs, nowMs));
  }
}

function end(cooldown: Cooldown, okMs: number): void {
  cooldown.okMs = Math.max(cooldown.okMs, okMs);
  cooldown.failures = 0;
  cooldown.probeSinceMs = 0;
  cooldown.untilMs = 0;
  cooldown.lengthMs = 0;
}

function endAsked(cooldown: Cooldown, clearedMs: number): void {
  cooldown.askedClearedMs = clearedMs;
  cooldown.askedUntilMs = 0;
}

export function fail(cooldown: Cooldown, nowMs: number, settings: CooldownSettings): void {
  cooldown.probeSinceMs = 0;
  cooldown.failures++;
  if (isTripped(cooldown)) {
    // While the cooldown is on, only attempts that began before it can fail. Their failures are no news.
    if (cooldown.untilMs <= nowMs) begin(cooldown, nowMs, settings, cooldown.lengthMs * 2);
  } else if (cooldown.failures >= settings.failuresToCooldown) begin(cooldown, nowMs, settings, settings.cooldownMs);
}

/** Starts the cooldown after failures. @param askedMs  its length, within the limits of the settings */
export function begin(
  cooldown: Cooldown,
  nowMs: number,
  { cooldownMs, maxCooldownMs }: CooldownSettings,
  askedMs: number,
): void {
  cooldown.lengthMs = Math.min(Math.max(askedMs, cooldownMs), maxCooldownMs);
  cooldown.sinceMs = Math.max(nowMs, cooldown.sinceMs, cooldown.okMs + 1);
  cooldown.untilMs = Math.max(cooldown.untilMs, nowMs + cooldown.lengthMs);
}

/** Starts a requested cooldown until `untilMs`, or keeps the present one if that ends later. */
export function ask(cooldown: Cooldown, nowMs: number, untilMs: number): void {
  if (!Number.isFinite(untilMs) || untilMs <= nowMs) return;
  if (isAsked(cooldown) && untilMs <= cooldown.askedUntilMs) return;
  // Later than the previous request, also if the clock was set back.
  cooldown.askedSinceMs = Math.max(nowMs, cooldown.askedSinceMs, cooldown.askedClearedMs + 1);
  cooldown.askedUntilMs = untilMs;
  cooldown.hasStartedSinceAsked = false;
}

/** The fields that instances share. */
export type SharedCooldown = Pick<
  Cooldown,
  'okMs' | 'sinceMs' | 'untilMs' | 'lengthMs' | 'askedSinceMs' | 'askedUntilMs' | 'askedClearedMs'
>;

/**
 * Merges the state of another instance: takes its last success, and its latest cooldown that began after that success.
 */
export function merge(cooldown: Cooldown, other: SharedCooldown): void {
  if (isTripped(cooldown) && other.okMs >= cooldown.sinceMs) end(cooldown, other.okMs);
  else cooldown.okMs = Math.max(cooldown.okMs, other.okMs);
  if (other.sinceMs > cooldown.okMs && isLater(cooldownOf(other), cooldownOf(cooldown))) {
    cooldown.sinceMs = other.sinceMs;
    cooldown.untilMs = other.untilMs;
    cooldown.lengthMs = other.lengthMs;
  }
  if (other.askedClearedMs > cooldown.askedClearedMs) {
    if (other.askedClearedMs >= cooldown.askedSinceMs) endAsked(cooldown, other.askedClearedMs);
    else cooldown.askedClearedMs = other.askedClearedMs;
  }
  if (other.askedSinceMs > cooldown.askedClearedMs && isLater(askOf(other), askOf(cooldown))) {
    cooldown.askedSinceMs = other.askedSinceMs;
    cooldown.askedUntilMs = other.askedUntilMs;
    cooldown.hasStartedSinceAsked = false;
  }
}

function cooldownOf({ sinceMs, untilMs, lengthMs }: SharedCooldown): number[] {
  return [sinceMs, untilMs, lengthMs];
}

function askOf({ askedSinceMs, askedUntilMs }: SharedCooldown): number[] {
  return [askedSinceMs, askedUntilMs];
}

/** Compares by the first time that differs. */
function isLater(one: readonly number[], other: readonly number[]): boolean {
  const i = one.findIndex((ms, i) => ms !== other[i]);
  return i >= 0 && (one[i] as number) > (other[i] as number);
}

import type { CooldownSettings } from '../../schema/settings.ts';

/** The one attempt after a cooldown has so long to report how it went; then another attempt may begin. */
const probeMs = 60_000;

/**
 * The cooldowns of one key, in epoch ms. There are two kinds:
 * - the one after failures in a row lasts until the next success. Past `untilMs` it is half open: one attempt at a time.
 * - the one that was asked for, such as by a Retry-After, lasts until its end.
 *
 * Each is on while it began later than what ended it. Where several instances know of cooldowns, all fields of the one that
 * began last are taken, and the last end: the result is the same in any order and however often instances share it.
 */
export interface Cooldown {
  /** The last success. */
  okMs: number;
  /** When the cooldown began; on while later than `okMs`. */
  sinceMs: number;
  untilMs: number;
  /** How long this cooldown is; the next one is twice as long. */
  lengthMs: number;
  askedSinceMs: number;
  askedUntilMs: number;
  /** When a success ended what was asked for; on while earlier than `askedSinceMs`. */
  askedClearedMs: number;
  /** Failures in a row. Only of what was seen here. */
  failures: number;
  /** When the attempt in flight after a cooldown began; 0: there is none. Of this instance alone. */
  probeSinceMs: number;
  /** Whether an attempt began since it was asked for: its success ends it. Only here. */
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

/** Whether failures in a row were seen, and no success since. */
export function isTripped({ sinceMs, okMs }: Cooldown): boolean {
  return sinceMs > okMs;
}

/** Whether the cooldown after failures has not run out. */
export function coolsDownAfterFailures(cooldown: Cooldown, nowMs: number): boolean {
  return isTripped(cooldown) && cooldown.untilMs > nowMs;
}

/** @returns when it may be used again; undefined: now */
export function cooldownUntil(cooldown: Cooldown, nowMs: number): number | undefined {
  const { askedSinceMs, askedClearedMs, askedUntilMs } = cooldown;
  let latestMs = askedSinceMs > askedClearedMs ? askedUntilMs : 0;
  if (isTripped(cooldown)) {
    latestMs = Math.max(latestMs, cooldown.untilMs > nowMs ? cooldown.untilMs : probedUntil(cooldown, nowMs));
  }
  return latestMs > nowMs ? latestMs : undefined;
}

/** 0: nobody is finding out. */
function probedUntil({ probeSinceMs }: Cooldown, nowMs: number): number {
  // A clock that was set back must not make it last for longer.
  return probeSinceMs > 0 && probeSinceMs <= nowMs ? probeSinceMs + probeMs : 0;
}

/**
 * An attempt begins.
 * @returns false: another is finding out whether the endpoint is back, and this one would better not
 */
export function start(cooldown: Cooldown, nowMs: number): boolean {
  cooldown.hasStartedSinceAsked = true;
  if (!isTripped(cooldown) || cooldown.untilMs > nowMs) return true;
  if (probedUntil(cooldown, nowMs) > nowMs) return false;
  cooldown.probeSinceMs = nowMs;
  return true;
}

/** An attempt has ended without a word on the endpoint. */
export function endProbe(cooldown: Cooldown): void {
  cooldown.probeSinceMs = 0;
}

export function succeed(cooldown: Cooldown, nowMs: number): void {
  // Later than what it ends, also on a clock that was set back and in the same millisecond.
  end(cooldown, Math.max(cooldown.sinceMs, nowMs));
  if (cooldown.askedSinceMs > cooldown.askedClearedMs && cooldown.hasStartedSinceAsked) {
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
    // During a cooldown only attempts that began before it can fail: they say nothing new.
    if (cooldown.untilMs <= nowMs) begin(cooldown, nowMs, settings, cooldown.lengthMs * 2);
  } else if (cooldown.failures >= settings.failuresToCooldown) begin(cooldown, nowMs, settings, settings.cooldownMs);
}

function begin(
  cooldown: Cooldown,
  nowMs: number,
  { cooldownMs, maxCooldownMs }: CooldownSettings,
  askedMs: number,
): void {
  cooldown.lengthMs = Math.min(Math.max(askedMs, cooldownMs), maxCooldownMs);
  cooldown.sinceMs = Math.max(nowMs, cooldown.sinceMs, cooldown.okMs + 1);
  cooldown.untilMs = Math.max(cooldown.untilMs, nowMs + cooldown.lengthMs);
}

/** Leaves it alone until `untilMs`, or later if that was asked for before. */
export function ask(cooldown: Cooldown, nowMs: number, untilMs: number): void {
  if (!Number.isFinite(untilMs) || untilMs <= nowMs) return;
  const isOn = cooldown.askedSinceMs > cooldown.askedClearedMs;
  if (isOn && untilMs <= cooldown.askedUntilMs) return;
  // Later than what was asked for before, also on a clock that was set back.
  cooldown.askedSinceMs = Math.max(nowMs, cooldown.askedSinceMs, cooldown.askedClearedMs + 1);
  cooldown.askedUntilMs = untilMs;
  cooldown.hasStartedSinceAsked = false;
}

/** The fields of a key that instances share. */
export type SharedCooldown = Pick<
  Cooldown,
  'okMs' | 'sinceMs' | 'untilMs' | 'lengthMs' | 'askedSinceMs' | 'askedUntilMs' | 'askedClearedMs'
>;

/** Takes over what another instance knows: the last success, and of the cooldowns that began after it the last one. */
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

/** By the first time that differs. */
function isLater(one: readonly number[], other: readonly number[]): boolean {
  const i = one.findIndex((ms, i) => ms !== other[i]);
  return i >= 0 && (one[i] as number) > (other[i] as number);
}

/** The version of a name without one: newer than every known version. */
const newest = 9999;

/**
 * The form of a name: `claude-opus-4-8`, `claude-sonnet-4-5-20250929`, `claude-3-5-sonnet-20241022`,
 * `claude-opus-4@20250514`. It has the family, the version, and a date, which is no version.
 */
const namePattern = /claude-(?:([a-z]+)-)?(?:(\d{1,2})(?:[-.](\d{1,2}))?(?!\d))?/;

/**
 * The form of the oldest names: `claude-v2`, `claude-instant-v1`. Behind a newer name, `v1` is the revision of a host, as
 * in `claude-opus-4-1-v1:0`.
 */
const oldestPattern = /claude-(?:(instant)-)?v(\d)(?!\d)/;

/** The facts in the name of a Claude. */
export interface ClaudeName {
  /** The family, such as `opus`; '': the name has none. */
  family: string;
  /** The version; 505 is 5.5. A name without a version is newer than every one with it. */
  version: number;
}

/** Reads the name of a model; other hosts put something before or behind it. null: it is no Claude. */
export function claudeName(upstreamModel: string): ClaudeName | null {
  const name = upstreamModel.toLowerCase();
  // Most names are of another model.
  if (!name.includes('claude-')) return null;
  const match = oldestPattern.exec(name) ?? namePattern.exec(name);
  if (match === null) return null;
  const [, family = '', major, minor] = match;
  return { family, version: major === undefined ? newest : Number(major) * 100 + Number(minor ?? 0) };
}

/**
 * Returns the name alone, without the parts that a host put around it: an address of AWS has the number of the
 * operator's account.
 */
export function bareName({ family, version }: ClaudeName): string {
  const digits = version === newest ? [] : [Math.floor(version / 100), version % 100];
  return ['claude', family, ...digits].join('-');
}

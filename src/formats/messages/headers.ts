const limits = /^x-ratelimit-(limit|remaining|reset)-(requests|tokens)$/;

/**
 * Renames headers of a response for the Messages wire: the limits have Anthropic's names, with a time of day in place of
 * a duration, and `request-id` repeats the id of the response, which clients show.
 * @param nowMs  epoch ms
 */
export function messagesHeaders(headers: Readonly<Record<string, string>>, nowMs: number): Record<string, string> {
  const renamed: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const [, what, unit] = limits.exec(name) ?? [];
    if (what === undefined || unit === undefined) {
      renamed[name] = value;
      if (name.toLowerCase() === 'x-generation-id') renamed['request-id'] = value;
    } else renamed[`anthropic-ratelimit-${unit}-${what}`] = what === 'reset' ? timeOf(value, nowMs) : value;
  }
  return renamed;
}

const msOf: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** The time of day at the end of a duration such as `6m0.5s`, in whole seconds. @see RFC 3339 */
function timeOf(duration: string, nowMs: number): string {
  let ms = 0;
  for (const [, count, unit] of duration.matchAll(/([\d.]{1,20})(ms|[hms])/g))
    ms += Number(count) * (msOf[unit as string] ?? 0);
  return new Date(Math.ceil((nowMs + ms) / 1000) * 1000).toISOString().replace('.000', '');
}

import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { objectOf, textOf } from './items/item-fields.ts';
import { builtInTool } from './server-tool.ts';

const settings = lazily(() =>
  z.looseObject({
    /** IANA name, such as `Europe/Berlin`. Default UTC. */
    timezone: z
      .string()
      .max(64)
      .refine(isTimeZone, { error: 'expected the IANA name of a time zone, such as "Europe/Berlin"' })
      .optional(),
  }),
);

/** Tells the model the present time. */
export const datetime = builtInTool<{ timezone?: string | undefined }>({
  name: 'datetime',
  description: 'Tells the current date and time.',
  parameters: {
    type: 'object',
    properties: {
      timezone: { type: 'string', description: 'IANA name of a time zone, such as "Europe/Berlin".' },
    },
  },
  settings,
  itemOf(_args, result) {
    const { datetime: now, timezone } = objectOf(result);
    return { type: 'service:datetime', datetime: textOf(now), timezone: textOf(timezone) };
  },
  run({ timezone: asked }, { clock, settings: { timezone: usual = 'UTC' } }) {
    const timezone = typeof asked === 'string' && isTimeZone(asked) ? asked : usual;
    return JSON.stringify({ datetime: localTime(clock.now(), timezone), timezone });
  },
});

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Writes a time as ISO 8601 with the offset, such as `2026-11-23T14:05:00+01:00`. */
function localTime(atMs: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'longOffset',
  });
  const part = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
  const offset = (part.timeZoneName ?? '').replace('GMT', '') || '+00:00';
  return `${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}:${part.second}${offset}`;
}

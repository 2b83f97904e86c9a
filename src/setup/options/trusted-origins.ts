import { originRule } from '../../http/cors.ts';
import type { Logger } from '../../telemetry/record.ts';

type Rule = Parameters<typeof originRule>[0];

/** The options that name sites. */
interface Origins {
  cors?: { origins: Rule } | false | null | undefined;
  trustedOrigins: Rule;
}

/** Makes the test whether pages of a site may act for a user. `*` of `cors` does not count: it sends no cookies. */
export function trustedOrigins(
  { cors, trustedOrigins: trusted }: Origins,
  logger: Logger | null,
): (origin: string) => boolean {
  const isTrusted = originRule(trusted, 'trustedOrigins', logger);
  const isOfCors = cors && cors.origins !== '*' ? originRule(cors.origins, 'cors.origins', logger) : () => false;
  return (origin) => isTrusted(origin) || isOfCors(origin);
}

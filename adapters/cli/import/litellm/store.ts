import { Source } from '../../config-source.ts';
import { type Mapping, memberOf, numberOf, textOf } from '../mapping.ts';
import { type Part, postgres, redis, sqlite } from '../produced.ts';
import type { Report } from '../report.ts';
import type { Variables } from '../variables.ts';

/** The store: the database of the file, else its Redis, else a file. */
export function storeOf(router: Mapping, general: Mapping, report: Report, variables: Variables): Part {
  const url = textOf(general, 'database_url');
  const hasRedis = ['redis_url', 'redis_host'].some((name) => memberOf(router, name) !== undefined);
  if (url !== undefined) {
    report.warning(
      'general_settings.database_url',
      'is the store now; keys, teams and spend that are in it are not imported',
      'Make keys with npx model-gateway keys: docs/migrate-from-a-proxy.md#virtual-keys.',
    );
    if (hasRedis) report.note('router_settings.redis_host', 'is not needed: instances share the store');
    return postgres(variables.secret(url, 'DATABASE_URL'));
  }
  if (!hasRedis) return sqlite;
  report.note('router_settings.redis_host', 'is the store now: instances share limits, budgets and health in it');
  const given = textOf(router, 'redis_url');
  if (given !== undefined) return redis(variables.secret(given, 'REDIS_URL'));
  return redis(redisAddress(router, variables));
}

/** The address that the parts of the file make. */
function redisAddress(router: Mapping, variables: Variables): Source {
  const part = (name: string, usual: string): string => {
    const value = textOf(router, name) ?? numberOf(router, name)?.toString();
    const written = value === undefined ? usual : variables.text(value);
    return written instanceof Source
      ? `\${${written.text.replace(' || undefined', '')}}`
      : templateText(String(written));
  };
  const password = textOf(router, 'redis_password');
  const secret = password === undefined ? null : variables.secret(password, 'REDIS_PASSWORD');
  const user = secret === null ? '' : `:\${encodeURIComponent(${secret.text.replace(' || undefined', " ?? ''")})}@`;
  return new Source(`\`redis://${user}${part('redis_host', '127.0.0.1')}:${part('redis_port', '6379')}\``);
}

/** A text as a part of a template. */
function templateText(text: string): string {
  return text.replace(/[^\w.-]/g, '');
}

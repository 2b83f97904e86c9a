import { type Env, UsageError } from '../config.ts';

/**
 * Returns the address of the running gateway that is asked; undefined: the command opens one itself.
 * @throws UsageError for flags of both
 */
export function runningUrl(
  { GATEWAY_URL: set }: Env,
  { url, key, config, data }: { url?: string; key?: string; config?: string; data?: string },
): string | undefined {
  const isOwn = config !== undefined || data !== undefined;
  if (url !== undefined && isOwn) throw new UsageError('Give --url, or --config and --data for a gateway of its own.');
  const running = url ?? (isOwn ? undefined : set?.trim() || undefined);
  if (running === undefined && key !== undefined) throw new UsageError('--key is for the gateway at --url.');
  return running;
}

/** Returns the address of a gateway without a slash at its end. */
export function baseUrlOf(url: string): string {
  if (/^https?:\/\//.test(url)) return url.replace(/(?<!\/)\/+$/, '');
  throw new UsageError(`Expected an address such as http://127.0.0.1:8787/v1 for url, not ${JSON.stringify(url)}`);
}

/** Returns the key for the gateway at an address. */
export function keyOf({ GATEWAY_API_KEY: set }: Env, given: string | undefined): string {
  const key = (given ?? set)?.trim();
  if (!key)
    throw new UsageError('Set GATEWAY_API_KEY to a key of the gateway that --url names, or give one with --key');
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError('The key has characters that no key has. Was more than the key copied?');
}

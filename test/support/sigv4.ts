import { createHash, createHmac } from 'node:crypto';

/** A request as it is signed; header names in lower case. */
export interface SignedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
}

export interface SigningKey {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
  service: string;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/**
 * The `Authorization` header of a request, computed from AWS's description alone.
 * @param signed  names of the headers that are signed
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function authorizationOf(
  { method, url, headers, body }: SignedRequest,
  { accessKeyId, secretAccessKey, region, service }: SigningKey,
  signed: readonly string[],
): string {
  const { pathname, host } = new URL(url);
  const time = headers['x-amz-date'] as string;
  const day = time.slice(0, 8);
  const names = [...signed].sort();
  // Each segment, which is encoded once in the address, is encoded once more.
  const path = pathname.split('/').map(encodeURIComponent).join('/');
  const lines = names.map((name) => `${name}:${(name === 'host' ? host : (headers[name] as string)).trim()}\n`);
  const canonical = [method, path, '', lines.join(''), names.join(';'), sha256(String(body))].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, text).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
}

/** Which headers an `Authorization` header says that it signs. */
export function signedHeaders(authorization: string): string[] {
  return /SignedHeaders=([^,]*)/.exec(authorization)?.[1]?.split(';') ?? [];
}

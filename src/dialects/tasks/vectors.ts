import { fromBase64, toBase64 } from '../../base/base64.ts';
import { badResponse } from '../shared/values.ts';
import type { Vector } from './contract.ts';

/** The bytes of a number of a vector: float32. */
const bytesPerNumber = 4;

/** Checks that a value is a vector of numbers. @throws UpstreamError bad_response */
export function floatsOf(value: unknown): readonly number[] {
  if (!Array.isArray(value) || value.length === 0)
    throw badResponse('The provider responded with a vector that is empty, or none.');
  for (const number of value)
    if (typeof number !== 'number' || !Number.isFinite(number))
      throw badResponse('The provider responded with a vector that holds something else than numbers.');
  return value;
}

/** Base64 with its padding, and without white space. */
const isBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Checks that a value is a vector: numbers, or base64 of float32. @throws UpstreamError bad_response */
export function vectorOf(value: unknown): Vector {
  if (typeof value !== 'string') return floatsOf(value);
  const bytes = isBase64.test(value) ? fromBase64(value) : null;
  if (bytes === null || bytes.length === 0 || bytes.length % bytesPerNumber !== 0)
    throw badResponse('The provider responded with a vector that is no base64 of float32.');
  return value;
}

/** Returns the number of numbers in a vector. */
export function lengthOf(vector: Vector): number {
  if (typeof vector !== 'string') return vector.length;
  const padding = vector.endsWith('==') ? 2 : vector.endsWith('=') ? 1 : 0;
  return ((vector.length / 4) * 3 - padding) / bytesPerNumber;
}

/** Returns a vector as numbers. @throws UpstreamError bad_response for what is no number: JSON has no place for it */
export function asFloats(vector: Vector): readonly number[] {
  if (typeof vector !== 'string') return vector;
  const bytes = fromBase64(vector) as Uint8Array;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const floats: number[] = new Array(bytes.length / bytesPerNumber);
  for (let at = 0; at < floats.length; at++) floats[at] = view.getFloat32(at * bytesPerNumber, true);
  return floatsOf(floats);
}

/** Returns a vector as base64 of float32, little-endian, whatever the machine's own order is. */
export function asBase64(vector: Vector): string {
  if (typeof vector === 'string') return vector;
  const bytes = new Uint8Array(vector.length * bytesPerNumber);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < vector.length; at++) view.setFloat32(at * bytesPerNumber, vector[at] as number, true);
  return toBase64(bytes);
}

import * as z from 'zod';
import { $constructor, $ZodAsyncError, config, util } from 'zod/v4/core';
import { lazily } from '../base/lazily.ts';
import { isObject } from '../base/values.ts';
import { expectation } from './chat/expectations.ts';

/**
 * The schemas of this file stop after `mostFaults` bad items, unlike zod's own. A body of 32 MiB can hold ten million
 * items, and zod reports every bad one with some hundred bytes.
 */
const mostFaults = 20;

/** Like `z.array`, but reports at most 20 bad items. */
export function list<T extends z.ZodType>(element: T): z.ZodArray<T> {
  return new BoundedArray({ type: 'array', element }) as unknown as z.ZodArray<T>;
}

interface RecordDef extends z.core.$ZodRecordDef {
  maxKeys?: number;
}

/**
 * Like `z.record`, but reports at most 20 bad entries, and refuses too many keys without a look at all of them. Entries
 * are checked, not copied. An entry named `__proto__` is ignored, as compiled code does.
 * @param limits  `maxKeys`: number of entries; `maxKeyLength`: characters of a key
 */
export function mapOf<V extends z.ZodType>(valueType: V, limits: { maxKeys?: number; maxKeyLength?: number } = {}) {
  const { maxKeys, maxKeyLength } = limits;
  const keyType = maxKeyLength === undefined ? z.string() : textUpTo(maxKeyLength);
  const map = new BoundedRecord({ type: 'record', keyType, valueType, maxKeys });
  // zod compiles only the standard rules of a record, so a separate check counts the keys; see `compiledAfter`.
  const described =
    maxKeys === undefined
      ? map
      : map.meta({ maxProperties: maxKeys }).check((payload) => {
          if (Object.keys(payload.value).length <= maxKeys) return;
          payload.issues.push({
            code: 'too_big',
            origin: 'object',
            maximum: maxKeys,
            inclusive: true,
            input: payload.value,
          });
        });
  return described as unknown as z.ZodRecord<z.ZodString, V>;
}

const BoundedArray = $constructor<z.ZodArray, z.core.$ZodArrayDef>('BoundedArray', (inst, def) => {
  z.ZodArray.init(inst, def);
  inst._zod.parse = (payload, ctx) => {
    const input: unknown = payload.value;
    if (!Array.isArray(input)) return refuse(payload, 'array', inst);
    const output: unknown[] = new Array(input.length);
    payload.value = output;
    let faults = 0;
    for (let index = 0; index < input.length && faults < mostFaults; index += 1) {
      const result = run(def.element, input[index], ctx);
      output[index] = result.value;
      if (result.issues.length > 0) faults += adopt(payload, result.issues, index, ctx);
    }
    return payload;
  };
});

const BoundedRecord = $constructor<z.ZodRecord, RecordDef>('BoundedRecord', (inst, def) => {
  z.ZodRecord.init(inst, def);
  const { maxKeys = Number.POSITIVE_INFINITY } = def;
  inst._zod.parse = (payload, ctx) => {
    const input: unknown = payload.value;
    if (!isObject(input)) return refuse(payload, 'object', inst);
    let faults = 0;
    let keys = 0;
    for (const key in input) {
      if (key === '__proto__') continue;
      keys += 1;
      if (keys > maxKeys) {
        payload.issues = [{ code: 'too_big', origin: 'object', maximum: maxKeys, inclusive: true, input, inst }];
        return payload;
      }
      const keyResult = run(def.keyType, key, ctx);
      if (keyResult.issues.length > 0) {
        const issues = keyResult.issues.map((issue) => util.finalizeIssue(issue, ctx, config()));
        faults += adopt(payload, [{ code: 'invalid_key', origin: 'record', issues, input: key, inst }], key, ctx);
      }
      const result = run(def.valueType, input[key], ctx);
      if (result.issues.length > 0) faults += adopt(payload, result.issues, key, ctx);
      if (faults >= mostFaults) break;
    }
    payload.value = withoutProto(input);
    return payload;
  };
});

/** In JSON Schema, a record of unknown values. The value is not inspected; only a key `__proto__` makes it copied. */
const AsItIs = $constructor<z.ZodRecord, z.core.$ZodRecordDef>('AsItIs', (inst, def) => {
  z.ZodRecord.init(inst, def);
  inst._zod.parse = (payload) => {
    if (!isObject(payload.value)) return refuse(payload, 'object', inst);
    payload.value = withoutProto(payload.value);
    return payload;
  };
});

/** Removes a key `__proto__`, which JSON can create, because compiled code loses this key when it copies. */
function withoutProto(value: Record<string, unknown>): Record<string, unknown> {
  if (!Object.hasOwn(value, '__proto__')) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== '__proto__'));
}

/**
 * A JSON object that is forwarded unchanged. The order of keys matters: a model writes its output in the order of the
 * properties of a JSON Schema.
 */
export const jsonObject = lazily(
  () =>
    new AsItIs({
      type: 'record',
      keyType: z.string(),
      valueType: z.unknown(),
    }) as unknown as z.ZodRecord<z.ZodString, z.ZodUnknown>,
);

/**
 * A string of at most `max` characters. Like JSON Schema, the check counts code points: an emoji is one character.
 * Issues are zod's own `too_big`.
 */
export function textUpTo(max: number): z.ZodString {
  const checked = z.string().check((payload) => {
    const { value } = payload;
    // `length` counts code units, at most two per code point. So code points matter only between max and twice max.
    if (value.length <= max || (value.length <= 2 * max && countCodePoints(value) <= max)) return;
    payload.issues.push({ code: 'too_big', origin: 'string', maximum: max, inclusive: true, input: value });
  });
  return checked.meta({ maxLength: max });
}

/** The name of something: 1 to `max` characters, and one of them visible. A blank name cannot be told from none. */
export function nameUpTo(max: number): z.ZodString {
  return textUpTo(max)
    .min(1, { abort: true })
    .regex(/[\p{L}\p{N}\p{P}\p{S}]/u, expectation('expected a name with a visible character'));
}

function countCodePoints(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}

function run(schema: z.core.SomeType, value: unknown, ctx: z.core.ParseContextInternal): z.core.ParsePayload {
  const result = schema._zod.run({ value, issues: [] }, ctx);
  if (result instanceof Promise) throw new $ZodAsyncError();
  return result;
}

function refuse(payload: z.core.ParsePayload, expected: string, inst: z.core.$ZodType): z.core.ParsePayload {
  payload.issues.push({ code: 'invalid_type', expected, input: payload.value, inst });
  return payload;
}

/** @returns the number to add to the faults: all of `mostFaults` when the caller only needs a yes or no */
function adopt(
  payload: z.core.ParsePayload,
  issues: z.core.$ZodRawIssue[],
  key: PropertyKey,
  ctx: z.core.ParseContextInternal,
): number {
  payload.issues.push(...util.prefixIssues(key, issues));
  return ctx.abortEarly === true ? mostFaults : 1;
}

import { expect, it } from 'vitest';
import type { ZodType } from 'zod';
import { validationIssues } from '../../../src/schema/chat/validate.ts';

export interface FieldCase {
  accepts: readonly unknown[];
  /** A value, and what is said of it. */
  rejects: readonly (readonly [value: unknown, message: string])[];
}

export function issuesOf(schema: ZodType, body: unknown): { path: string; message: string }[] {
  const result = schema.safeParse(body);
  return result.success ? [] : validationIssues(result.error);
}

/** Tests every field of a body, with the rest of it as given. */
export function testFields(schema: ZodType, rest: object, fields: Record<string, FieldCase>): void {
  for (const [field, { accepts, rejects }] of Object.entries(fields)) {
    it.each(accepts.map((value) => [short(value), value]))(`${field} may be %s`, (_, value) => {
      const body = { ...rest, [field]: value };
      expect(issuesOf(schema, body)).toEqual([]);
      expect(schema.parse(body)).toMatchObject({ [field]: value });
    });
    it.each(rejects.map(([value, message]) => [short(value), message, value]))(
      `${field} may not be %s: %s`,
      (_, message, value) => {
        const [first, ...more] = issuesOf(schema, { ...rest, [field]: value });
        expect(first).toEqual({ path: expect.stringMatching(new RegExp(`^${field}(?:\\[|$)`)), message });
        expect(more.every(({ path }) => path.startsWith(field))).toBe(true);
      },
    );
  }
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 20)}… (${text.length})` : text;
}

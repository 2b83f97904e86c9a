import * as z from 'zod';
import { expectation } from './chat/expectations.ts';

/** A function of the host app. @param what  its form, such as `(record) => void` */
export const func = <T>(what: string) =>
  z.custom<T>((value) => typeof value === 'function', { error: expectation(`expected a function: ${what}`) });

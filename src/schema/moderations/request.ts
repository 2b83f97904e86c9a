import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { taskFields } from '../task-fields.ts';

/** The body of POST /moderations. */
export const moderationsRequestSchema = lazily(() =>
  z.strictObject({
    /** A text, texts, or the parts of one input: texts and pictures. */
    input: z.union([
      z.string().min(1),
      list(z.string().min(1)).min(1),
      list(
        z.discriminatedUnion('type', [
          z.strictObject({ type: z.literal('text'), text: z.string() }),
          z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: z.string().min(1) }) }),
        ]),
      ).min(1),
    ]),
    ...taskFields(),
  }),
);
export interface ModerationsRequest extends z.infer<ReturnType<typeof moderationsRequestSchema>> {}

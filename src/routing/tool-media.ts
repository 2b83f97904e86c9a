import { GatewayError } from '../base/errors.ts';
import type { Model } from '../call/model.ts';
import type { Native } from '../call/native.ts';

/** Parts of tool outputs that are no text, with their places in the caller's request. */
export type ToolMedia = Native['toolMedia'];

const none: ToolMedia = [];

/** Returns the parts beside text that tools have returned in a Responses request: the first part of each kind. */
export function toolMediaOf(native: Native | null): ToolMedia {
  const all = native?.toolMedia ?? none;
  return all.length < 2
    ? all
    : [...Map.groupBy(all, ({ modality }) => modality).values()].flatMap(([first = []]) => first);
}

/**
 * true: a model is known not to take a part that a tool has returned. Such a part is sent only to models that take it.
 * @see interface document, "Responses": non-text parts of a tool output
 */
export function takesNot(media: ToolMedia, { inputModalities }: Model): boolean {
  return inputModalities !== undefined && media.some(({ modality }) => !inputModalities.includes(modality));
}

/** Returns the error for a request whose tool outputs no remaining model takes. */
export function mediaRefused(media: ToolMedia, models: readonly Model[], excluded: unknown): GatewayError {
  const [first] = media.filter((one) => models.some((model) => takesNot([one], model)));
  const { path, modality } = first as ToolMedia[number];
  return new GatewayError(
    'invalid_request',
    `${path}: the model takes no ${modality} as the output of a tool; send text`,
    {
      metadata: { issues: [{ path, message: `the model takes no ${modality}` }], excluded },
    },
  );
}

import { refusal } from '../../base/refusal.ts';
import { isObject } from '../../base/values.ts';
import type { Caller } from '../../call/call.ts';
import type { ListedOperation } from '../../operations/operation.ts';
import type { ChoiceError } from '../../schema/chat/result.ts';
import type { ImageEditsRequest, ImageGenerationsRequest, ImagesRequest } from '../../schema/images/request.ts';
import type { ImagesEvent, ImagesResult, OpenaiImagesEvent, OpenaiImagesResult } from '../../schema/images/result.ts';
import { type AskOperation, askWith, type CreateCompletion, contentOf, jsonOf } from './completions.ts';
import { type FileSource, isFileSource, readFile } from './files.ts';
import { type EventMeaning, reportedError } from './stream.ts';

/** The body of an edit in process, with its files. */
export interface ImageEdit extends Omit<ImageEditsRequest, 'image' | 'mask'> {
  /** The pictures. */
  image?: FileSource | readonly FileSource[] | null | undefined;
  /** The part of the first picture that may change. */
  mask?: FileSource | { image_url: string } | null | undefined;
}

/** The functions that make images. */
export interface Images {
  /** Images. */
  readonly images: {
    /** As POST /images/generations. */
    readonly generate: CreateCompletion<ImageGenerationsRequest, OpenaiImagesResult, OpenaiImagesEvent>;
    /** As POST /images/edits. */
    readonly edit: CreateCompletion<ImageEdit, OpenaiImagesResult, OpenaiImagesEvent>;
    /** As POST /images. */
    readonly create: CreateCompletion<ImagesRequest, ImagesResult, ImagesEvent>;
  };
}

/** Makes the functions of a caller. */
export function createImagesFunctions(
  operations: readonly ListedOperation[],
  ask: AskOperation,
): (caller: Caller) => Images['images'] {
  const named = (name: string) => operations.find((one) => one.name === name) as ListedOperation;
  const [generate, edit, create] = [named('createImages'), named('editImages'), named('createImage')];
  return (caller) => ({
    generate: contentOf(askWith(ask, generate, caller, meaning<OpenaiImagesEvent>(false))),
    edit: contentOf(askWith(ask, edit, caller, meaning<OpenaiImagesEvent>(false), withFiles)),
    create: contentOf(askWith(ask, create, caller, meaning<ImagesEvent>(true))),
  });
}

function meaning<Event extends { type: string }>(hasSentinel: boolean): EventMeaning<Event> {
  return {
    showsFailure: false,
    hasSentinel,
    failure: (event) =>
      event.type === 'error' ? reportedError((event as unknown as { error: ChoiceError }).error) : null,
  };
}

/** Returns a body with its files read; the rest as JSON has it. @throws GatewayError invalid_request (400) */
async function withFiles(body: unknown): Promise<unknown> {
  const read: Record<string, unknown> = {};
  for (const [name, value] of fieldsOf(body)) {
    if (isFileSource(value)) read[name] = await readFile(value);
    else if (Array.isArray(value) && value.some(isFileSource))
      read[name] = await Promise.all(value.map((one) => (isFileSource(one) ? readFile(one) : one)));
    else if (value !== undefined) read[name] = JSON.parse(jsonOf({ value })).value;
  }
  return read;
}

function fieldsOf(body: unknown): [string, unknown][] {
  if (!isObject(body)) throw refusal('invalid_request', [{ path: '', message: 'expected object' }]);
  try {
    return Object.entries(body);
  } catch (error) {
    throw refusal('invalid_request', [{ path: '', message: 'expected an object that can be read' }], error);
  }
}

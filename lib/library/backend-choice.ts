/** Which backend a run takes, and why: a part of the public types, so that it names no more than it must. */
import type { SourceChoice } from '../images/image-set.ts';

export type BackendChoice =
  | {
      readonly backend: 'sim';
      /** One clause for the terminal: why this one. */
      readonly why: string;
    }
  | { readonly backend: 'kind'; readonly why: string; readonly images: SourceChoice };

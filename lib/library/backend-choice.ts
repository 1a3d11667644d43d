/** Which backend a run takes, and why: a part of the public types, so that it names no more than it must. */
import type { Capability } from '../cluster/capabilities.ts';
import type { SourceChoice } from '../images/image-set.ts';

export type BackendChoice = Common &
  ({ readonly backend: 'sim' } | { readonly backend: 'kind'; readonly images: SourceChoice });

interface Common {
  /** One clause for the terminal: why this one. */
  readonly why: string;
  /** What it will have once it is open: what needs more is refused before. */
  readonly capabilities: readonly Capability[];
}

/** Which backend a run takes, and why: a part of the public types, so that it names no more than it must. */
import type { Capability } from '../../core/index.ts';
import type { SourceChoice } from '../../kind/index.ts';

/** What may be asked for: ours by name, or whichever is there. */
export const clusterWords = ['auto', 'kind', 'sim'] as const;
export type ClusterWord = (typeof clusterWords)[number];

/** What is done with one goes by what it is and has, never by its name. */
export interface BackendChoice {
  /** Its name, for records and people. */
  readonly backend: string;
  /** It predicts; see Backend. */
  readonly isModel: boolean;
  /** What its clusters are made of. Absent where runs make none. */
  readonly images?: SourceChoice;
  /** One clause for the terminal: why this one. */
  readonly why: string;
  /** What it will have once it is open: what needs more is refused before. */
  readonly capabilities: readonly Capability[];
}

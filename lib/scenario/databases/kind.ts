/** What a kind of database says of itself. */
import type { KindDeclaration } from '../kinds.ts';

export interface DatabaseDeclaration extends KindDeclaration {
  /** What is tested; Markdown, for the page. */
  readonly is: string;
  /** What a run of it asks that has no question of its own. Default: its fault's. */
  readonly question?: string;
  /** The only verdict that is no surprise, and why. Default: by the disk and the fault. */
  readonly expected?: { readonly verdict: 'safe'; readonly because: string };
}

/**
 * The port to a database: all that the rest of the tool uses of the one under test. It is an argument, like the
 * cluster. `lib/mysql` implements it, and so may a caller of the library.
 */
import type { JudgedDatabase } from '../../judge/index.ts';
import type { DatabaseChoice } from '../../scenario/index.ts';
import type { RealDatabase } from './server-port.ts';

export interface Database extends JudgedDatabase {
  readonly pod: DatabaseTemplate;
  /** Absent: only the model plays it. */
  readonly real?: RealDatabase;
}

/** Its pod: `manifests/<name>` has the template, and what is not here is asked of nobody. */
export interface DatabaseTemplate {
  /** Where its container has the volume. */
  readonly dataFolder: string;
  /** It answers clients there. */
  readonly port: number;
  /** What of pod.yaml is the database's own to fill in. */
  values(image: string, choice: DatabaseChoice): Readonly<Record<string, string | number>>;
}

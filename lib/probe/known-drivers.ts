/** CSI drivers by the name that they register, as docs/reference/drivers.yaml has them. */
import { allDrivers } from '../disk-drivers.ts';
import type { DiskMode } from '../disk-modes/index.ts';

/** `read`: it was looked up on this cluster. The others are words of that page. */
export type HowSure = 'read' | 'source' | 'documented' | 'reported' | 'not found' | 'inferred';

interface KnownDriver {
  readonly mode: DiskMode;
  readonly sure: HowSure;
  readonly note: string;
}

/** What is known of it; where the page has several rows for one driver, the first, and the others' modes. */
export function knownDriver(name: string): KnownDriver | undefined {
  const rows = allDrivers().filter(({ csi }) => csi.some((known) => isCalled(name, known)));
  const [first] = rows;
  if (first === undefined || first.mode === null) return undefined;
  const others = rows.slice(1).map((row) => `${row.mode ?? 'none'} (${row.name})`);
  const also = others.length === 0 ? '' : `; or, by its settings or history, ${others.join(', ')}`;
  return {
    mode: first.mode,
    sure: weakest(first.sure),
    note: `${[first.name, first.note].filter(Boolean).join(', ')}: ${first.detach}${also}`,
  };
}

const isCalled = (name: string, known: string): boolean =>
  known.endsWith('*') ? name.startsWith(known.slice(0, -1)) : name === known;

const words = ['not found', 'reported', 'documented', 'source'] as const;

/** The page names each source of a claim; the weakest one counts. */
const weakest = (sure: string): HowSure => words.find((word) => sure.includes(word)) ?? 'not found';

/** Volumes of one node: no other can ever have them. */
export const localProvisioners = ['kubernetes.io/no-provisioner', 'rancher.io/local-path'] as const;

/** Every experiment and command: how it is called so that nothing is made, and what it reads. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from '../../lib/cli/forcedetach.ts';
import { presetNames } from '../../lib/cli/commands/experiment.ts';
import type { Bases } from './bases.ts';
import type { Surface } from './case.ts';
import { flagSurface, type FlagOptions } from './flags.ts';
import {
  bytesSurface,
  documentSurface,
  runSurface,
  tailSurface,
  textSurfaces,
  type Reader,
} from './surfaces.ts';

/** `run` is tried by its experiments, and completion reads nothing. */
export const commandNames: readonly string[] = [
  ...presetNames(),
  ...Object.keys(commands).filter((name) => !['run', 'completion'].includes(name)),
];

const nothing = (): string[] => [];
const asked: FlagOptions = {
  before: () => ['--dry-run'],
  behind: ['--cluster', 'sim', '--dry-run'],
  allowed: [0, 2],
};
/** Of commands that need a machine, or change files of the project: only what they refuse. */
const refused: FlagOptions = { before: nothing, behind: ['--no-such-flag'], allowed: [0, 2] };
const writing = (folder: string, file: string, text: string): string => {
  writeFileSync(join(folder, file), text);
  return join(folder, file);
};

const flagOptions = (bases: Bases): Readonly<Record<string, FlagOptions>> => ({
  clean: refused,
  doctor: refused,
  expectations: { before: nothing, behind: ['/nowhere/at/all'], allowed: [0, 2] },
  'crash-states': { before: () => ['/nowhere/at/all'], behind: [], allowed: [0, 2, 3] },
  export: { before: nothing, behind: ['/nowhere/at/all'], allowed: [0, 2, 3] },
  report: { before: nothing, behind: ['/nowhere/at/all'], allowed: [0, 2, 3] },
  'merge-batches': { before: nothing, behind: ['/nowhere/at/all'], allowed: [0, 2] },
  'group-replication': { before: () => ['--dry-run'], behind: ['--dry-run'], allowed: [0, 2] },
  sweep: {
    before: () => ['--threads', '1'],
    behind: ['--schedules', '0'],
    // A cluster is asked for by --on-cluster, and there is none.
    allowed: [0, 2, 4],
  },
  matrix: { ...asked, before: (folder) => ['--dry-run', writing(folder, 'm.yaml', bases.matrix)] },
  replay: { ...asked, before: (folder) => [writing(folder, 's.yaml', bases.schedule)] },
});

/** `help`: what the command's --help says. */
export function surfacesOf(command: string, help: string, bases: Bases): Surface[] {
  const options = flagOptions(bases)[command] ?? asked;
  return [flagSurface(help, options), ...(filesOf(bases)[command]?.() ?? [])];
}

const journals = ['run.hist', 'writer-outside.hist', 'reads-inside.hist', 'rows-second.hist'];

function filesOf(bases: Bases): Readonly<Record<string, () => Surface[]>> {
  const dry = ['--cluster', 'sim', '--dry-run'];
  const people = { allowed: [0, 2], refuses: 2 };
  const runs = (reader: Reader): Surface[] => [
    runSurface(reader, bases, journals),
    tailSurface(reader, bases),
  ];
  const evidence = { allowed: [0, 1, 3, 5], refuses: 3 };
  return {
    matrix: () => [
      ...textSurfaces(
        'matrix file',
        { ...people, args: (folder) => [join(folder, 'm.yaml'), ...dry] },
        { file: 'm.yaml', text: bases.matrix },
      ),
      bytesSurface(
        'batch to go on with',
        {
          args: (folder) => [writing(folder, 'm.yaml', bases.matrix), ...dry, '--out', folder],
          allowed: [0, 2, 3],
          refuses: 2,
        },
        ['results.jsonl'],
        bases.batch,
      ),
    ],
    replay: () =>
      textSurfaces(
        'schedule file',
        { ...people, args: (folder) => [join(folder, 's.yaml'), ...dry] },
        { file: 's.yaml', text: bases.schedule },
      ),
    report: () => [
      ...runs({ ...evidence, args: (folder) => [folder] }),
      ...batchSurfaces({ allowed: [0, 1, 2, 3, 5], refuses: 2, args: (folder) => [folder] }, bases),
    ],
    export: () => runs({ ...evidence, args: (folder) => ['--partial', folder] }),
    'crash-states': () => runs({ allowed: [2, 3], refuses: 3, args: (folder) => [folder] }),
    'merge-batches': () =>
      batchSurfaces(
        { allowed: [0, 1, 2, 3, 5], refuses: 2, args: (folder) => [join(folder, 'out'), folder] },
        bases,
      ),
    sweep: () => sweepSurfaces(bases),
  };
}

/** The batch's own file, and the verdict of one of its runs. */
function batchSurfaces(reader: Reader, bases: Bases): Surface[] {
  const text = bases.textOf('batch', 'batch.json');
  const verdict = bases.verdictInBatch;
  return [
    documentSurface('batch, its values', reader, { file: 'batch.json', text }, bases.batch),
    documentSurface(
      'verdict of a run, its values',
      reader,
      { file: verdict, text: bases.textOf('batch', verdict) },
      bases.batch,
    ),
    bytesSurface('batch, its bytes', reader, ['batch.json'], bases.batch),
    bytesSurface(
      'verdict of a run, its bytes',
      // One bad run never spoils the page.
      { ...reader, refuses: batchCode(text) },
      [verdict],
      bases.batch,
    ),
  ];
}

function batchCode(text: string): number {
  const { verdict } = JSON.parse(text) as { readonly verdict: string };
  return { expected: 0, unexpected: 1, inconclusive: 3 }[verdict] ?? 1;
}

function sweepSurfaces(bases: Bases): Surface[] {
  const reader: Reader = {
    args: (folder) => ['--threads', '1', '--findings', '0', '--schedules', '0', '--out', folder],
    allowed: [0, 1, 2],
    refuses: 2,
  };
  const text = bases.textOf('sweep', 'state.json');
  return [
    documentSurface('state, its values', reader, { file: 'state.json', text }),
    bytesSurface('state, its bytes', reader, ['state.json'], bases.sweep),
  ];
}

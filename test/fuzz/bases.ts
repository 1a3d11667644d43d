/** What the cases alter: a run, a batch and a sweep as the commands themselves leave them, made once. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Runner } from './runner.ts';

export interface Bases {
  /** Copies what the command left there into a new folder. */
  readonly run: (into: string) => void;
  readonly batch: (into: string) => void;
  readonly sweep: (into: string) => void;
  /** A file of what was made. */
  readonly textOf: (base: 'batch' | 'sweep', file: string) => string;
  /** The verdict.json of a run that the batch's page shows, as seen from the batch. */
  readonly verdictInBatch: string;
  /** Texts of files that people, or the project, wrote. */
  readonly matrix: string;
  readonly schedule: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
export const scheduleFile = join(root, 'experiments/schedules/reboot-at-force-detach.yaml');

const matrix = `
name: fuzz
question: What becomes of it?
seed: one
base: { fault: none, watch: { warmup: 1s, overlap: 1s }, load: { rate: 1 }, timers: { grace: 10s } }
axes:
  disk: [fenced]
  Load: { idle: { load: { rate: 0 } }, slow: { load: { rate: 1 } } }
exclude: [{ Load: idle }]
include: [{ fault: none, disk: fenced, kubernetes: { featureGates: {} }, load: { connections: 1 } }]
repeats: 1
rerunAlone: 0.1
attempts: 1
`;

const short =
  '--cluster sim --seed fuzz --rate 1 --grace 10s --toleration 10s --force-detach-after 30s ' +
  '--warmup 2s --overlap 5s --horizon 120s';

/** Throws where one of them could not be made: then there is nothing to alter. */
export async function makeBases(runner: Runner, folder: string): Promise<Bases> {
  const at = (name: string): string => join(folder, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(at('matrix.yaml'), matrix);
  const make = async (command: string, args: readonly string[], made: string): Promise<void> => {
    const ended = await runner.spawned({ command, args: [...args, '--out', at(made)] });
    if (ended === undefined || ended.code === undefined || ![0, 1, 3, 5].includes(ended.code)) {
      throw new Error(`${command} made nothing: ${ended?.stderr ?? 'it did not end'}`);
    }
  };
  await make('network-partition', short.split(' '), 'run');
  await make('matrix', [at('matrix.yaml'), '--cluster', 'sim', '--reports', 'unexpected'], 'batch');
  for (const name of ['batch.json', 'results.jsonl']) unseal(join(at('batch'), name));
  await make('sweep', ['--schedules', '250', '--threads', '1', '--findings', '0'], 'sweep');
  return {
    run: (into) => cpSync(join(at('run'), 'history'), join(into, 'history'), { recursive: true }),
    batch: (into) => copyWithoutHistories(at('batch'), into),
    sweep: (into) => cpSync(join(at('sweep'), 'state.json'), join(into, 'state.json')),
    textOf: (base, file) => readFileSync(join(at(base), file), 'utf8'),
    verdictInBatch: verdictIn(at('batch')),
    matrix,
    schedule: readFileSync(scheduleFile, 'utf8'),
  };
}

/** Whatever is altered in a sealed file has one answer (test/plays/matrix.test.ts); the readers behind it have many. */
function unseal(path: string): void {
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replaceAll(/,\s*"(seal|verdictSha256)": ?"[0-9a-f]{64}"/g, ''));
}

function verdictIn(batch: string): string {
  const { cells } = JSON.parse(readFileSync(join(batch, 'batch.json'), 'utf8')) as {
    readonly cells: readonly { readonly runs: readonly { readonly folder: string }[] }[];
  };
  const folder = cells.flatMap(({ runs }) => runs)[0]?.folder;
  if (folder === undefined) throw new Error('the batch has no run');
  return join(folder, 'verdict.json');
}

/** A batch's page is made of what its runs came to. */
function copyWithoutHistories(from: string, into: string): void {
  const names = readdirSync(from, { recursive: true, encoding: 'utf8' });
  for (const name of names.filter((each) => /(batch|verdict)\.json$|results\.jsonl$/.test(each))) {
    cpSync(join(from, name), join(into, name));
  }
}

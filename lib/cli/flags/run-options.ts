/** Flags that are no part of a scenario: where it runs, and what it leaves. */
import { Option } from 'commander';
import { clusterWords } from '../library/backend-choice.ts';
import { failOnOption } from '../fail-on.ts';
import {
  clusterName,
  nonEmpty,
  registry,
  seedText,
  workerCount,
  workersWords,
} from './flag-values.ts';

export const whereOptions = (): Option[] => [
  new Option(
    '--cluster <where>',
    'kind measures on a real cluster, sim predicts with the model; auto: kind if a Docker engine answers',
  )
    .choices(clusterWords)
    .default('auto'),
  new Option('--cluster-name <name>', 'kind cluster to create or reuse')
    .argParser(clusterName)
    .default('main'),
  new Option(
    '--images <source>',
    'published: from registries; built: here from packages and Go modules',
  )
    .choices(['auto', 'published', 'built'])
    .default('auto'),
  new Option(
    '--registry <host:port>',
    'registry to pull our images from (scripts/publish-images.ts pushes them)',
  ).argParser(registry),
  new Option('--workers <n>', workersWords).argParser(workerCount),
  new Option('--keep', 'keep the cluster for the next run'),
];

/** Option for a command that makes images and takes nothing else of these. */
export const imagesOption = (): Option =>
  new Option('--images <source>', 'where images come from')
    .choices(['auto', 'published', 'built'])
    .default('auto');

/** One of them. Throws RangeError of a name that none has. */
export function whereOption(name: string): Option {
  const found = whereOptions().find((option) => option.name() === name);
  if (found === undefined) throw new RangeError(`there is no flag --${name}`);
  return found;
}

/** What a certificate says of the disk goes before its flags. */
export const certificateOptions = (): Option[] => [
  new Option(
    '--disk-from <file>',
    'read --disk and --cut-after from a certificate of the probe (docs/how-to/play-a-certificate.md)',
  ).argParser(nonEmpty),
  new Option(
    '--disk-class <name>',
    'with --disk-from: the StorageClass, if the certificate has several',
  ).argParser(nonEmpty),
];

export const outputOptions = (): Option[] => [
  new Option(
    '--seed <text>',
    'seed for every random draw (default: random, printed first)',
  ).argParser(seedText),
  new Option(
    '--out <dir>',
    'folder of the run (default: reports/<time>-<name>-<run id>)',
  ).argParser(nonEmpty),
  failOnOption(),
  new Option('--json', 'verdict.json on stdout, everything else on stderr'),
  new Option('--dry-run', 'show what would run; create nothing'),
];

/** The flags of `experiments/probe.mjs`. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { UsageError } from '../../errors.ts';
import { publishedRuntime } from '../../images/versions.ts';
import { cutWays, type CutWay } from '../../probe/cut/host.ts';
import { cutRemedies, type CutRemedy } from '../../probe/cut/cut-plan.ts';
import { jobForms, type JobForm } from '../../probe/job.ts';
import { granteeOf, type Grantee } from '../../probe/rights.ts';
import { commandLine, parseArguments } from '../command.ts';
import { nonEmpty, numberWithin, outputFile, positiveMs } from './flag-values.ts';
import type { TrialsRequest } from '../../probe/trials/run-trials.ts';

export interface ProbeFlags
  extends Pick<TrialsRequest, 'trials' | 'volumeMode' | 'size' | 'image' | 'namespace' | 'grant'> {
  /** Undefined with `--clean` and `--rbac` only. */
  readonly storageClass?: string;
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly nodes?: readonly [string, string];
  readonly horizon: number;
  readonly run: boolean;
  readonly dryRun: boolean;
  readonly html?: string;
  readonly junit?: string;
  readonly out?: string;
  readonly output: 'text' | 'json';
  readonly rbac: boolean;
  /** For whom rights are printed. */
  readonly account?: Grantee;
  readonly printJob?: JobForm;
  readonly clean: boolean;
  /** The node. */
  readonly cut?: string;
  readonly yes?: string;
  readonly cutBy: CutWay;
  readonly remedy: CutRemedy;
  /** Default: as long as the remedy takes. */
  readonly healAfter?: number;
}

/** Throws UsageError `BAD_FLAG`. */
export const probeFlags = (args: readonly string[]): ProbeFlags =>
  parseArguments(probeCommand(), args).opts<ProbeFlags>();

export function probeCommand(): Command {
  const command = commandLine('npx zx experiments/probe.mjs', [
    ['what its driver lets expect; only reads', '-s fast-ssd'],
    ['what happens, on volumes of its own', '-s fast-ssd --run --out detach-fast-ssd.json'],
    ['what cutting a node off would do', '-s fast-ssd,slow-hdd --cut worker-3 --dry-run'],
    ['the rights that it needs', '--rbac'],
  ])
    .description(
      'Tells how a StorageClass answers a forced detach. Without --run it predicts, reads only and makes nothing.',
    )
    .option('-s, --storage-class <name>', 'the class that is asked about; with --cut also a,b,c')
    .option('--context <name>', 'of the kubeconfig; default: the current one')
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, else ~/.kube/config')
    .option('--run', 'make the trials: in a namespace of their own, then remove it', false)
    .option('--nodes <a,b>', 'nodes for the trials; default: two that fit', twoNodes)
    .option('--trials <n>', 'how many of a kind', numberWithin(1, 100), 5)
    .addOption(
      new Option(
        '--volume-mode <mode>',
        'auto: Block where the driver has it, with --cut Filesystem',
      )
        .choices(['auto', 'Block', 'Filesystem'])
        .default('auto'),
    )
    .option('--size <quantity>', 'of each volume', quantity, '1Gi')
    .addOption(
      new Option('--horizon <duration>', 'how long a writer is watched after the delete')
        .default(100_000, '100s')
        .argParser(positiveMs),
    )
    .option(
      '--image <name>',
      'of the pods: any with Node 20 or later, and nsenter for --cut',
      nonEmpty,
      publishedRuntime,
    )
    .option(
      '--dry-run',
      'print what --run or --cut would make, and the rights for it; make nothing',
      false,
    )
    .option('--html <file>', 'the answer as a page too', outputFile)
    .option('--junit <file>', 'the answer as JUnit XML too', outputFile)
    .option(
      '--out <file>',
      'where the answer goes as JSON; default of a certificate: detach-<class>.json or cut-<node>.json here',
      outputFile,
    )
    .addOption(
      new Option('-o, --output <form>', 'what is printed')
        .choices(['text', 'json'])
        .default('text'),
    );
  addCutFlags(command);
  addRightsFlags(command);
  return command;
}

const addCutFlags = (command: Command): Command =>
  command
    .option('--cut <node>', 'cut this node off for minutes, with volumes of all classes named')
    .option('--yes <node>', 'confirms --cut: the same node once more')
    .addOption(
      new Option('--cut-by <way>', 'how: all its network (nftables), or its kubelet stopped')
        .choices(cutWays)
        .default('network'),
    )
    .addOption(
      new Option(
        '--remedy <remedy>',
        'what is done once the node is not Ready; eviction: nothing, Kubernetes takes twelve minutes',
      )
        .choices(cutRemedies)
        .default('force-delete'),
    )
    .addOption(
      new Option(
        '--heal-after <duration>',
        'when the node that was cut off heals itself; default: 10m, of an eviction 15m',
      ).argParser(healAfter),
    );

const addRightsFlags = (command: Command): Command =>
  command
    .option('--clean', 'remove what killed probes left on the cluster, and nothing else', false)
    .option(
      '--namespace <name>',
      'one that --rbac made; it stays; default: one for each run',
      namespaceName,
    )
    .option(
      '--grant <file>',
      'write a role for just the attachments of the trials there, and wait until it is granted',
    )
    .option('--rbac', 'print the rights that are needed, for `kubectl apply`', false)
    .option('--account <name>', 'for whom, as `kubectl auth whoami` says it', granteeOf)
    .addOption(
      new Option(
        '--print-job [form]',
        'print a Job that does all this inside the cluster, or a plugin for Sonobuoy',
      )
        .choices(jobForms)
        .preset('job'),
    );

/** Throws UsageError `BAD_FLAG`. */
export function neededClass({ storageClass }: ProbeFlags): string {
  if (storageClass !== undefined) return storageClass;
  throw new UsageError('BAD_FLAG', "required option '-s, --storage-class <name>' not specified", {
    hint: '--help shows the flags with their defaults',
    command: 'kubectl get storageclass',
  });
}

/** Shorter, and nothing could come of it; longer, and nobody waits. */
const healWithin = { leastMs: 60_000, mostMs: 3_600_000 };

function healAfter(text: string): number {
  const ms = positiveMs(text);
  if (ms >= healWithin.leastMs && ms <= healWithin.mostMs) return ms;
  throw new InvalidArgumentError('Give 1m to 1h.');
}

function namespaceName(text: string): string {
  if (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text)) return text;
  throw new InvalidArgumentError('Give the name of a namespace.');
}

function twoNodes(text: string): readonly [string, string] {
  const [a, b, ...rest] = text.split(',').map((name) => name.trim());
  if (a && b && rest.length === 0) return [a, b];
  throw new InvalidArgumentError('Give two nodes with a comma between them.');
}

/** Size as Kubernetes writes it, a whole number. */
function quantity(text: string): string {
  if (/^[1-9]\d{0,8}(Ki|Mi|Gi|Ti|k|M|G|T)?$/.test(text)) return text;
  throw new InvalidArgumentError('Give a size such as 1Gi.');
}

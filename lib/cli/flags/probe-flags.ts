/** The flags of `forcedetach probe`. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { diskModes, type DiskMode } from '../../scenario/index.ts';
import { UsageError, typed } from '../../core/index.ts';
import { publishedRuntime } from '../../kind/index.ts';
import {
  type CutRemedy,
  type CutWay,
  cutRemedies,
  cutWays,
  jobForms,
  type JobForm,
  type Grantee,
  granteeOf,
  type TrialsRequest,
} from '../../probe/index.ts';
import { commandLine } from '../command.ts';
import { nonEmpty, numberWithin, outputFile, positiveMs } from './flag-values.ts';

export interface ProbeFlags
  extends Pick<TrialsRequest, 'trials' | 'volumeMode' | 'size' | 'image' | 'namespace' | 'grant'> {
  /** Undefined with `--clean` and `--rbac` only. */
  readonly storageClass?: string;
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly nodes?: readonly [string, string];
  readonly horizon: number;
  readonly run: boolean;
  /** Modes that the trials may answer. */
  readonly expect?: readonly DiskMode[];
  /** Two certificates. */
  readonly compare?: readonly string[];
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

/** Throws UsageError `BAD_FLAG` of flags that don't go together. */
export function checkProbeFlags(flags: ProbeFlags): ProbeFlags {
  if (flags.compare !== undefined && flags.compare.length !== 2) {
    throw new UsageError(
      'BAD_FLAG',
      `--compare takes two certificates, not ${flags.compare.length}`,
      {
        hint: 'give the older one first: --compare before.json after.json',
      },
    );
  }
  if (flags.expect !== undefined && (!flags.run || flags.cut !== undefined)) {
    throw new UsageError('BAD_FLAG', '--expect needs the answer of trials', {
      hint: 'add --run; a prediction measures nothing, and a cut answers for several classes',
    });
  }
  return flags;
}

export function probeCommand(): Command {
  const command = commandLine(typed('probe'), [
    ['predict from the class and its driver; only reads', '-s fast-ssd'],
    ['measure, on volumes of its own', '-s fast-ssd --run --out detach-fast-ssd.json'],
    ['guard a driver: fail on another answer', '-s fast-ssd --run --expect fenced'],
    ['show what cutting a node off would do', '-s fast-ssd,slow-hdd --cut worker-3 --dry-run'],
    ['print the rights that it needs', '--rbac'],
  ])
    .description(
      'Shows what a StorageClass does on a forced detach. Without --run it predicts: it reads only, and creates nothing.',
    )
    .option('-s, --storage-class <name>', 'the class to probe; with --cut also a,b,c')
    .option('--context <name>', 'of the kubeconfig; default: the current one')
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, else ~/.kube/config')
    .option('--run', 'make trials in a namespace of their own, then remove it', false)
    .option(
      '--expect <modes>',
      'with --run: exit with 1 if the answer is another mode; a,b accepts each of them',
      expectedModes,
    )
    .option(
      '--compare <files...>',
      'two certificates, the older one first: what changed; exit with 1 if the answer did',
    )
    .option(
      '--nodes <a,b>',
      'nodes for the trials; default: two of one topology that fit',
      twoNodes,
    )
    .option('--trials <n>', 'number of trials of each kind', numberWithin(1, 100), 5)
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
    );
  addOutputFlags(command);
  addCutFlags(command);
  addRightsFlags(command);
  return command;
}

const addOutputFlags = (command: Command): Command =>
  command
    .option(
      '--dry-run',
      'print what --run or --cut would make, and the rights for it; make nothing',
      false,
    )
    .option('--html <file>', 'also write the answer as a page', outputFile)
    .option('--junit <file>', 'also write the answer as JUnit XML', outputFile)
    .option(
      '--out <file>',
      'where the answer goes as JSON; default of a certificate: detach-<class>.json or cut-<node>.json here',
      outputFile,
    )
    .addOption(
      new Option('-o, --output <form>', 'form of what is printed')
        .choices(['text', 'json'])
        .default('text'),
    );

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
        'the action once the node is not Ready; eviction: none, Kubernetes takes twelve minutes',
      )
        .choices(cutRemedies)
        .default('force-delete'),
    )
    .addOption(
      new Option(
        '--heal-after <duration>',
        'when the cut-off node heals itself; default: 10m, with eviction 15m',
      ).argParser(healAfter),
    );

const addRightsFlags = (command: Command): Command =>
  command
    .option('--clean', 'remove only what killed probes left on the cluster', false)
    .option(
      '--namespace <name>',
      'a namespace that --rbac made, which stays; default: a new one for each run',
      namespaceName,
    )
    .option(
      '--grant <file>',
      'write a role for just the attachments of the trials to this file, and wait until you grant it',
    )
    .option('--rbac', 'print the rights that are needed, for `kubectl apply`', false)
    .option(
      '--account <name>',
      'who gets the rights, as `kubectl auth whoami` prints it',
      granteeOf,
    )
    .addOption(
      new Option(
        '--print-job [form]',
        'print a Job that probes from inside the cluster, or a plugin for Sonobuoy',
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

function expectedModes(text: string): readonly DiskMode[] {
  const modes = text.split(',').map((mode) => mode.trim());
  const unknown = modes.find((mode) => !(diskModes as readonly string[]).includes(mode));
  if (unknown === undefined) return modes as DiskMode[];
  throw new InvalidArgumentError(`${unknown} is none of ${diskModes.join(', ')}.`);
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

/**
 * `forcedetach probe -s CLASS`: what is to be expected of a class when a volume of it is detached by
 * force; with `--run` what happens.
 */
import { resolve } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { stringify } from 'yaml';
import {
  type ExitCode,
  type UserClients,
  exitCode,
  typed,
  UsageError,
  userClients,
  writeOutput,
  sealOf,
} from '../../core/index.ts';
import { publishedRuntime } from '../../kind/index.ts';
import {
  type Certificate,
  type CutOptions,
  type CutRemedy,
  type CutWay,
  type Grantee,
  type JobForm,
  type TrialsRequest,
  answerText,
  cleanGiven,
  cleanUp,
  compareCertificates,
  cutDryRun,
  cutRemedies,
  cutText,
  cutWays,
  dryRun,
  grantedObjects,
  granteeOf,
  holdAnswer,
  jobForms,
  jobText,
  measuredText,
  mustBeConfirmed,
  predictionFor,
  probeAccount,
  renderCertificateHtml,
  renderCertificateJunit,
  renderCutHtml,
  renderCutJunit,
  renderPredictionHtml,
  renderPredictionJunit,
  runCut,
  runTrials,
  shownHome,
  sonobuoyText,
  usualHealMs,
} from '../../probe/index.ts';
import { diskModes, type DiskMode } from '../../scenario/index.ts';
import { commandLine, exits, say, tell } from '../command.ts';
import { nonEmpty, numberWithin, oneOf, outputFile, positiveMs } from '../flags/flag-values.ts';
import { onInterrupt } from '../guard.ts';

interface ProbeFlags
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

export const probeCommand = (): Command =>
  commandLine(typed('probe'), [
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
      oneOf(
        '--volume-mode <mode>',
        'auto: Block where the driver has it, with --cut Filesystem',
        ['auto', 'Block', 'Filesystem'],
        'auto',
      ),
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
    .option('--html <file>', 'also write the answer as a page', outputFile)
    .option('--junit <file>', 'also write the answer as JUnit XML', outputFile)
    .option(
      '--out <file>',
      'where the answer goes as JSON; default of a certificate: detach-<class>.json or cut-<node>.json here',
      outputFile,
    )
    .addOption(oneOf('-o, --output <form>', 'form of what is printed', ['text', 'json'], 'text'))
    .option('--cut <node>', 'cut this node off for minutes, with volumes of all classes named')
    .option('--yes <node>', 'confirms --cut: the same node once more')
    .addOption(
      oneOf(
        '--cut-by <way>',
        'how: all its network (nftables), or its kubelet stopped',
        cutWays,
        'network',
      ),
    )
    .addOption(
      oneOf(
        '--remedy <remedy>',
        'the action once the node is not Ready; eviction: none, Kubernetes takes twelve minutes',
        cutRemedies,
        'force-delete',
      ),
    )
    .addOption(
      new Option(
        '--heal-after <duration>',
        'when the cut-off node heals itself; default: 10m, with eviction 15m',
      ).argParser(healAfter),
    )
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

/** Throws UsageError `BAD_FLAG` of flags that don't go together. */
export function checkProbeFlags(flags: ProbeFlags): ProbeFlags {
  const { compare, expect, run, cut } = flags;
  if (compare !== undefined && compare.length !== 2) {
    const what = `--compare takes two certificates, not ${compare.length}`;
    throw new UsageError('BAD_FLAG', what, {
      hint: 'give the older one first: --compare before.json after.json',
    });
  }
  if (expect !== undefined && (!run || cut !== undefined)) {
    throw new UsageError('BAD_FLAG', '--expect needs the answer of trials', {
      hint: 'add --run; a prediction measures nothing, and a cut answers for several classes',
    });
  }
  return flags;
}

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

/**
 * Exits with 0, also for a prediction where trials would be refused; with 1 for an answer that is not
 * expected, or that changed; with 3 where trials leave it undecided.
 */
export const probe = (): Command => probeCommand().action(exits(answer));

async function answer(given: ProbeFlags): Promise<ExitCode> {
  const flags = checkProbeFlags(given);
  if (flags.rbac) {
    tell(rbacText(flags));
    return exitCode.expected;
  }
  if (flags.printJob !== undefined) {
    tell(jobFor(flags, flags.printJob));
    return exitCode.expected;
  }
  if (flags.compare !== undefined) return compare(flags.compare);
  if (flags.clean) {
    return clean(await userClients(flags.context, flags.kubeconfig), flags.namespace);
  }
  const storageClass = neededClass(flags);
  const clients = await userClients(flags.context, flags.kubeconfig);
  if (flags.cut !== undefined) return runCutProbe(clients, flags, flags.cut);
  if (flags.run || flags.dryRun) return trials(clients, storageClass, flags);
  const volumeMode = flags.volumeMode === 'auto' ? 'Block' : flags.volumeMode;
  const prediction = await predictionFor(clients, { ...asked(storageClass, flags), volumeMode });
  const forms = { text: answerText, html: renderPredictionHtml, junit: renderPredictionJunit };
  await writeAnswer(flags, prediction, forms);
  return exitCode.expected;
}

const asked = (
  storageClass: string,
  { nodes, trials, size, horizon: horizonMs, image, namespace }: ProbeFlags,
) => ({
  ...{ storageClass, nodes, trials, size, horizonMs, image },
  ...(namespace === undefined ? {} : { namespace }),
});

/** A second Ctrl-C is told what was said last. */
function tellUntilInterrupt(
  first: string,
): Disposable & { readonly say: typeof say; readonly signal: AbortSignal } {
  let doing = first;
  const interrupt = onInterrupt(say, () => doing);
  return {
    signal: interrupt.signal,
    say(line) {
      doing = line;
      say(line);
    },
    [Symbol.dispose]: () => interrupt[Symbol.dispose](),
  };
}

async function trials(
  clients: UserClients,
  storageClass: string,
  flags: ProbeFlags,
): Promise<ExitCode> {
  using telling = tellUntilInterrupt('the trials are on');
  const { volumeMode, grant } = flags;
  const request = {
    ...asked(storageClass, flags),
    ...{ volumeMode, say: telling.say, signal: telling.signal },
    ...(grant === undefined ? {} : { grant }),
  };
  if (flags.dryRun) {
    tell(await dryRun(clients, request));
    return exitCode.expected;
  }
  const certificate = await runTrials(clients, request);
  const { answer, left } = certificate;
  const held = flags.expect === undefined ? undefined : holdAnswer(answer, flags.expect);
  const forms = {
    text: (made: Certificate) =>
      [measuredText(made), ...(held === undefined ? [] : ['', held.text])].join('\n'),
    html: renderCertificateHtml,
    junit: (made: Certificate) => renderCertificateJunit(made, held),
  };
  await writeCertificate(flags, `detach-${storageClass}.json`, certificate, forms);
  if (left !== undefined) return exitCode.infrastructure;
  if (held?.is === 'other') return exitCode.unexpected;
  return held?.is === 'undecided' || answer.modes.length === 0
    ? exitCode.inconclusive
    : exitCode.expected;
}

function compare([before = '', after = '']: readonly string[]): ExitCode {
  const { text, isSame } = compareCertificates(before, after);
  tell(text);
  if (isSame === undefined) return exitCode.inconclusive;
  return isSame ? exitCode.expected : exitCode.unexpected;
}

/** `given`: a namespace that was made for probes, and stays. */
async function clean(clients: UserClients, given: string | undefined): Promise<ExitCode> {
  if (given !== undefined) {
    await cleanGiven(clients, given);
    tell(`Nothing of a probe is in ${given}.`);
    return exitCode.expected;
  }
  const { removed, left, error } = await cleanUp(clients, say);
  for (const { name, why } of left) say(`${name} stays: ${why}`);
  if (removed.length > 0) tell(`Removed: ${removed.join(', ')}.`);
  if (error !== undefined) throw error;
  if (removed.length === 0) tell('Nothing to remove.');
  return exitCode.expected;
}

function rbacText(flags: ProbeFlags): string {
  const { cut: node, remedy, namespace, grant, account = probeAccount } = flags;
  const marks = remedy === 'out-of-service';
  const objects = grantedObjects({
    ...{ home: shownHome(namespace), grantsLater: grant !== undefined, to: account },
    ...(node === undefined ? {} : { cut: { node, marks } }),
  });
  return objects.map((object) => stringify(object)).join('---\n');
}

/** `--cut NODE`: one node is cut off; what became of each class. */
export async function runCutProbe(
  clients: UserClients,
  flags: ProbeFlags,
  node: string,
): Promise<ExitCode> {
  using telling = tellUntilInterrupt('the cut is prepared');
  const { image, size, remedy, cutBy: way, nodes } = flags;
  const [first = '', ...others] = neededClass(flags).split(',');
  const options: CutOptions = {
    ...{ node, image, size, remedy, way, confirmed: flags.yes },
    healAfterMs: healAfterMs(flags),
    classes: [first, ...others],
    // A volume of every class can be had so.
    volumeMode: flags.volumeMode === 'auto' ? 'Filesystem' : flags.volumeMode,
    ...(nodes === undefined ? {} : { next: nodes[1] }),
    ...(flags.namespace === undefined ? {} : { namespace: flags.namespace }),
    ...{ say: telling.say, signal: telling.signal },
  };
  if (flags.dryRun) {
    tell(await cutDryRun(clients, options));
    return exitCode.expected;
  }
  const certificate = await runCut(clients, options);
  const forms = { text: cutText, html: renderCutHtml, junit: renderCutJunit };
  await writeCertificate(flags, `cut-${node}.json`, certificate, forms);
  if (certificate.left !== undefined) return exitCode.infrastructure;
  return certificate.findings.every(({ outcome }) => outcome === 'undecided')
    ? exitCode.inconclusive
    : exitCode.expected;
}

/** Throws UsageError `NO_JOB_IMAGE`, `CUT_NOT_CONFIRMED`, `BAD_FLAG`. */
export function jobFor(flags: ProbeFlags, form: JobForm): string {
  const { image, namespace = 'forcedetach-probe', cut: node, remedy } = flags;
  const words = wordsOf(flags);
  if (image === publishedRuntime) {
    throw new UsageError('NO_JOB_IMAGE', 'a Job needs an image with the probe in it', {
      hint: 'none is published; build one, push it to where your nodes pull from, and name it with --image',
      command: 'npx node scripts/probe-image.ts',
    });
  }
  if (node !== undefined) mustBeConfirmed(node, flags.yes);
  const cut =
    node === undefined
      ? {}
      : { cut: { node, marks: remedy === 'out-of-service', healAfterMs: healAfterMs(flags) } };
  const request = { image, words, namespace, ...cut };
  return form === 'job' ? jobText(request) : sonobuoyText(request);
}

const healAfterMs = ({ healAfter, remedy }: ProbeFlags): number => healAfter ?? usualHealMs(remedy);

const seconds = (ms: number): string => `${ms / 1000}s`;

/** Without what is about this machine: its files, its kubeconfig. */
function wordsOf(flags: ProbeFlags): string[] {
  const { nodes, cut, yes, expect } = flags;
  return [
    ...['--storage-class', neededClass(flags)],
    ...(nodes === undefined ? [] : ['--nodes', nodes.join(',')]),
    ...['--volume-mode', flags.volumeMode, '--size', flags.size],
    ...(cut === undefined || yes === undefined
      ? ['--run', '--trials', String(flags.trials), '--horizon', seconds(flags.horizon)]
      : ['--cut', cut, '--yes', yes, '--cut-by', flags.cutBy, '--remedy', flags.remedy]),
    ...(expect === undefined ? [] : ['--expect', expect.join(',')]),
    ...(cut === undefined ? [] : ['--heal-after', seconds(healAfterMs(flags))]),
  ];
}

/** One answer in each form that can be asked for. */
interface Forms<Answer> {
  readonly text: (answer: Answer) => string;
  readonly html: (answer: Answer) => Promise<string>;
  /** Absent: no flag asks for it. */
  readonly junit?: (answer: Answer) => Promise<string>;
}

export type AskedOutput = Pick<ProbeFlags, 'out' | 'output' | 'html' | 'junit'>;

/** To the files that were asked for, and to the terminal. */
export async function writeAnswer<Answer extends object>(
  { out, output, html, junit }: AskedOutput,
  answer: Answer,
  forms: Forms<Answer>,
): Promise<void> {
  const text = JSON.stringify(answer);
  if (out !== undefined) writeOutput(resolve(out), `${text}\n`);
  if (html !== undefined) writeOutput(html, await forms.html(answer));
  if (junit !== undefined && forms.junit) writeOutput(junit, await forms.junit(answer));
  tell(output === 'json' ? text : forms.text(answer));
}

/** Writes all that was measured: nothing of it may be lost. `name`: of the file here, where no other was asked for. */
export async function writeCertificate<Certificate extends object>(
  flags: AskedOutput,
  name: string,
  certificate: Certificate,
  forms: Forms<Certificate>,
): Promise<void> {
  const out = resolve(flags.out ?? name);
  await writeAnswer({ ...flags, out }, { ...certificate, seal: sealOf(certificate) }, forms);
  say(`certificate: ${out}`);
}

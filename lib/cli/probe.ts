/** `experiments/probe.mjs -s CLASS`: what is to be expected of a class when it is detached by force. */
import { InvalidArgumentError, Option } from 'commander';
import { stringify } from 'yaml';
import { exitCode } from '../errors.ts';
import { probeClients } from '../probe/clients.ts';
import { planLines } from '../probe/plan.ts';
import { answerFor, type Answer } from '../probe/prediction.ts';
import { rbacObjects, readNeeds, trialNeeds } from '../probe/rights.ts';
import { commandLine, parseArguments, runCommand, tell } from './command.ts';
import { numberWithin } from './flag-values.ts';

interface Flags {
  readonly storageClass: string;
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly nodes?: readonly [string, string];
  readonly trials: number;
  readonly output: 'text' | 'json';
  readonly rbac: boolean;
}

/** Prints the answer and sets the exit code: 0, also where trials would be refused. Never throws. */
export const probe = (): Promise<void> =>
  runCommand('probe', async (args) => {
    const flags = flagsOf(args);
    if (flags.rbac) {
      tell(rbacText());
      return exitCode.expected;
    }
    const { storageClass, nodes, trials } = flags;
    const clients = await probeClients(flags.context, flags.kubeconfig);
    const answer = await answerFor(clients, { storageClass, nodes, trials });
    tell(flags.output === 'json' ? JSON.stringify(answer, undefined, 2) : answerText(answer));
    return exitCode.expected;
  });

function flagsOf(args: readonly string[]): Flags {
  const command = commandLine('npx zx experiments/probe.mjs')
    .description('Predicts how a StorageClass answers a forced detach. Reads only, makes nothing.')
    .requiredOption('-s, --storage-class <name>', 'the class that is asked about')
    .option('--context <name>', 'of the kubeconfig; default: the current one')
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, else ~/.kube/config')
    .addOption(
      new Option('--nodes <a,b>', 'nodes that trials would use; default: two that fit').argParser(
        twoNodes,
      ),
    )
    .addOption(
      new Option('--trials <n>', 'how many of a kind the plan has')
        .default(5)
        .argParser(numberWithin(1, 100)),
    )
    .addOption(
      new Option('-o, --output <form>', 'what is printed')
        .choices(['text', 'json'])
        .default('text'),
    )
    .option('--rbac', 'print the rights that reading and trials need, for `kubectl apply`', false);
  parseArguments(command, args);
  return command.opts<Flags>();
}

function twoNodes(text: string): readonly [string, string] {
  const [a, b, ...rest] = text.split(',').map((name) => name.trim());
  if (a && b && rest.length === 0) return [a, b];
  throw new InvalidArgumentError('Give two nodes with a comma between them.');
}

/** For the account `forcedetach-probe` in the namespace `default`. */
function rbacText(): string {
  const name = 'forcedetach-probe';
  const needs = [...readNeeds, ...trialNeeds('')];
  return rbacObjects(name, needs, { kind: 'ServiceAccount', name, namespace: 'default' })
    .map((object) => stringify(object))
    .join('---\n');
}

/** One line a fact: what, what was found, where, how sure. */
export function answerText({ prediction, plan, refusal, missingRights }: Answer): string {
  const width = Math.max(...prediction.lines.map(({ what }) => what.length));
  return [
    ...prediction.lines.map(
      ({ what, found, source, sure }) => `${what.padEnd(width)}  ${found}  [${sure}: ${source}]`,
    ),
    '',
    'This is a prediction from documents and settings. Nothing was measured.',
    ...(plan === undefined ? [] : ['', 'Trials would do this:', ...planLines(plan)]),
    ...(refusal === undefined ? [] : ['', 'Trials would be refused:', refusal]),
    ...(missingRights.length === 0
      ? []
      : ['', 'For trials these rights are missing:', ...missingRights.map((each) => `  ${each}`)]),
  ].join('\n');
}

/** `forcedetach risk`: the five checks of docs/how-to/is-my-cluster-at-risk.md, read from a cluster. */
import type { Command } from 'commander';
import { type ExitCode, exitCode, typed, userClients } from '../../core/index.ts';
import { readRisk, renderRiskHtml, riskText } from '../../probe/index.ts';
import { commandLine, exits } from '../command.ts';
import { oneOf, outputFile } from '../flags/flag-values.ts';
import { type AskedOutput, writeAnswer } from './probe.ts';

interface RiskFlags extends Omit<AskedOutput, 'junit'> {
  readonly context?: string;
  readonly kubeconfig?: string;
}

/** Exits with 0 whatever the answer is. */
export const risk = (): Command =>
  commandLine(typed('risk'), [
    ['the current cluster', ''],
    ['another one, as a page', '--context staging --html risk.html'],
  ])
    .description('Answers whether a lost node can destroy a database there. Reads only.')
    .option('--context <name>', 'of the kubeconfig; default: the current one')
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, else ~/.kube/config')
    .option('--html <file>', 'also write the answer as a page', outputFile)
    .option('--out <file>', 'also write the answer as JSON', outputFile)
    .addOption(oneOf('-o, --output <form>', 'form of what is printed', ['text', 'json'], 'text'))
    .action(exits(answer));

async function answer({ context, kubeconfig, ...output }: RiskFlags): Promise<ExitCode> {
  const report = await readRisk(await userClients(context, kubeconfig));
  await writeAnswer(output, report, { text: riskText, html: renderRiskHtml });
  return exitCode.expected;
}

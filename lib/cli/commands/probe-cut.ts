/** `experiments/probe.mjs -s CLASS,… --cut NODE`: one node is cut off; what became of each class. */
import { stringify } from 'yaml';
import { exitCode, type ExitCode } from '../../errors.ts';
import type { ProbeClients } from '../../probe/clients.ts';
import { armScript, cutScript } from '../../probe/cut/host.ts';
import { hostPod } from '../../probe/cut/objects.ts';
import { cutPlanLines } from '../../probe/cut/plan.ts';
import { planCut, runCut, type CutOptions } from '../../probe/cut/run.ts';
import { cutText } from '../../probe/cut/texts.ts';
import { exampleNamespace } from '../../probe/trials/place.ts';
import { cutNeeds, rulesOf } from '../../probe/rights.ts';
import { say, tell } from '../command.ts';
import { onInterrupt } from '../interrupt.ts';
import { classOf, type ProbeFlags } from '../flags/probe-flags.ts';
import { writeCertificate } from '../terminal/probe-output.ts';

export async function cut(
  clients: ProbeClients,
  flags: ProbeFlags,
  node: string,
): Promise<ExitCode> {
  let doing = 'the cut is prepared';
  const told = (line: string): void => {
    doing = line;
    say(line);
  };
  using interrupt = onInterrupt(say, () => doing);
  const { image, size, remedy, cutBy: way, healAfter: healAfterMs, nodes } = flags;
  const options: CutOptions = {
    ...{ node, image, size, remedy, way, healAfterMs, confirmed: flags.yes },
    classes: classOf(flags).split(','),
    // A volume of every class can be had so.
    volumeMode: flags.volumeMode === 'auto' ? 'Filesystem' : flags.volumeMode,
    ...(nodes === undefined ? {} : { next: nodes[1] }),
    ...{ say: told, signal: interrupt.signal },
  };
  if (flags.dryRun) {
    tell(await dryRun(clients, options));
    return exitCode.expected;
  }
  const certificate = await runCut(clients, options);
  writeCertificate(flags, `cut-${node}.json`, certificate, cutText);
  return certificate.findings.every(({ outcome }) => outcome === 'undecided')
    ? exitCode.inconclusive
    : exitCode.expected;
}

/** Plan, rights, and the pods that enter the node. */
async function dryRun(clients: ProbeClients, options: CutOptions): Promise<string> {
  const { plan } = await planCut(clients, options);
  const namespace = exampleNamespace;
  const where = { namespace, node: plan.nodes[0], image: plan.image };
  const pods = [
    hostPod(where, 'arm', armScript(plan.way, namespace, plan.healAfterMs)),
    hostPod(where, 'cut', cutScript(plan.way)),
  ];
  const rights = rulesOf(cutNeeds('', plan.remedy === 'out-of-service'));
  return [
    ...cutPlanLines(plan),
    ...['', 'Rights:', stringify(rights)],
    ...['Pods that enter the node:', ...pods.map((pod) => stringify(pod))],
  ].join('\n');
}

/** `experiments/probe.mjs -s CLASS,… --cut NODE`: one node is cut off; what became of each class. */
import { exitCode, type ExitCode } from '../../errors.ts';
import type { ProbeClients } from '../../probe/clients.ts';
import { cutDryRun } from '../../probe/cut/dry-run.ts';
import { runCut, type CutOptions } from '../../probe/cut/run.ts';
import { usualHealMs } from '../../probe/cut/plan.ts';
import { cutText } from '../../probe/cut/texts.ts';
import { renderCutHtml } from '../../probe/published/cut-html.ts';
import { renderCutJunit } from '../../probe/published/cut-junit.ts';
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
  const { image, size, remedy, cutBy: way, nodes } = flags;
  const { healAfter: healAfterMs = usualHealMs(remedy) } = flags;
  const [first = '', ...others] = classOf(flags).split(',');
  const options: CutOptions = {
    ...{ node, image, size, remedy, way, healAfterMs, confirmed: flags.yes },
    classes: [first, ...others],
    // A volume of every class can be had so.
    volumeMode: flags.volumeMode === 'auto' ? 'Filesystem' : flags.volumeMode,
    ...(nodes === undefined ? {} : { next: nodes[1] }),
    ...(flags.namespace === undefined ? {} : { namespace: flags.namespace }),
    ...{ say: told, signal: interrupt.signal },
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

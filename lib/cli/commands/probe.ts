/**
 * `experiments/probe.mjs -s CLASS`: what is to be expected of a class when a volume of it is detached by
 * force; with `--run` what happens.
 */
import { stringify } from 'yaml';
import { exitCode, type ExitCode } from '../../errors.ts';
import { probeClients, type ProbeClients } from '../../probe/clients.ts';
import { answerText, measuredText } from '../../probe/texts.ts';
import { answerFor } from '../../probe/prediction.ts';
import { grantedObjects, probeAccount } from '../../probe/rights.ts';
import { renderCertificateHtml } from '../../probe/published/html.ts';
import { renderCertificateJunit } from '../../probe/published/junit.ts';
import { closeHome } from '../../probe/trials/home.ts';
import { cleanUp } from '../../probe/trials/place.ts';
import { dryRun, shownHome } from '../../probe/trials/dry-run.ts';
import { runTrials } from '../../probe/trials/run.ts';
import { runCommand, say, tell } from '../command.ts';
import { onInterrupt } from '../interrupt.ts';
import { cut } from './probe-cut.ts';
import { jobFor } from './probe-job.ts';
import { classOf, probeFlags, type ProbeFlags } from '../flags/probe-flags.ts';
import { writeCertificate } from '../terminal/probe-output.ts';

/**
 * Prints the answer and sets the exit code: 0, also for a prediction where trials would be refused; 3
 * where trials leave it undecided. Never throws.
 */
export const probe = (): Promise<void> =>
  runCommand('probe', async (args) => {
    const flags = probeFlags(args);
    if (flags.rbac) {
      tell(rbacText(flags));
      return exitCode.expected;
    }
    if (flags.printJob !== undefined) {
      tell(jobFor(flags, flags.printJob));
      return exitCode.expected;
    }
    if (flags.clean) {
      return clean(await probeClients(flags.context, flags.kubeconfig), flags.namespace);
    }
    const storageClass = classOf(flags);
    const clients = await probeClients(flags.context, flags.kubeconfig);
    if (flags.cut !== undefined) return cut(clients, flags, flags.cut);
    if (flags.run || flags.dryRun) return trials(clients, storageClass, flags);
    const volumeMode = flags.volumeMode === 'auto' ? 'Block' : flags.volumeMode;
    const answer = await answerFor(clients, { ...asked(storageClass, flags), volumeMode });
    tell(flags.output === 'json' ? JSON.stringify(answer, undefined, 2) : answerText(answer));
    return exitCode.expected;
  });

const asked = (
  storageClass: string,
  { nodes, trials, size, horizon: horizonMs, image, namespace }: ProbeFlags,
) => ({
  ...{ storageClass, nodes, trials, size, horizonMs, image },
  ...(namespace === undefined ? {} : { namespace }),
});

async function trials(
  clients: ProbeClients,
  storageClass: string,
  flags: ProbeFlags,
): Promise<ExitCode> {
  let doing = 'the trials are on';
  const told = (line: string): void => {
    doing = line;
    say(line);
  };
  using interrupt = onInterrupt(say, () => doing);
  const { signal } = interrupt;
  const { volumeMode, grant } = flags;
  const request = {
    ...asked(storageClass, flags),
    ...{ volumeMode, say: told, signal },
    ...(grant === undefined ? {} : { grant }),
  };
  if (flags.dryRun) {
    tell(await dryRun(clients, request));
    return exitCode.expected;
  }
  const certificate = await runTrials(clients, request);
  const forms = { text: measuredText, html: renderCertificateHtml, junit: renderCertificateJunit };
  await writeCertificate(flags, `detach-${storageClass}.json`, certificate, forms);
  if (certificate.left !== undefined) return exitCode.infrastructure;
  return certificate.answer.mode === undefined && certificate.answer.modes.length === 0
    ? exitCode.inconclusive
    : exitCode.expected;
}

/** `given`: a namespace that was made for probes, and stays. */
async function clean(clients: ProbeClients, given: string | undefined): Promise<ExitCode> {
  if (given !== undefined) {
    await closeHome(clients, { namespace: given, isGiven: true });
    tell(`Nothing of a probe is in ${given}.`);
    return exitCode.expected;
  }
  const { removed, left } = await cleanUp(clients, say);
  for (const { name, why } of left) say(`${name} stays: ${why}`);
  tell(removed.length === 0 ? 'Nothing to remove.' : `Removed: ${removed.join(', ')}.`);
  return exitCode.expected;
}

function rbacText({
  cut: node,
  remedy,
  namespace,
  grant,
  account = probeAccount,
}: ProbeFlags): string {
  const marks = remedy === 'out-of-service';
  const objects = grantedObjects({
    ...{ home: shownHome(namespace), grantsLater: grant !== undefined, to: account },
    ...(node === undefined ? {} : { cut: { node, marks } }),
  });
  return objects.map((object) => stringify(object)).join('---\n');
}

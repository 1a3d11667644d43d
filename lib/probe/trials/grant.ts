/**
 * The right to end the attachments of a run, and no others: their names are hashes of volumes, so the
 * volumes are made first, a role for just these names is written for whoever may grant it, and waited for.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { InfrastructureError } from '../../errors.ts';
import { writeOutput } from '../../output-file.ts';
import { answered, kubectl, missingRights } from '../../user-cluster.ts';
import type { ProbeClients } from '../clients.ts';
import type { ProbeTrial } from '../trial-plan.ts';
import { attachmentNeeds, granteeOf, rbacObjects, type Home } from '../rights.ts';
import { attachmentName, claimObject } from './objects.ts';
import type { TrialContext } from './trial.ts';
import { nowMs } from './view.ts';

/** A volume is made. */
const provisionMs = 240_000;
/** Somebody has to see it and do it. */
const grantMs = 900_000;
const lookMs = 2000;

/**
 * Makes the claims of all trials; the names of their writers' attachments, but for those that are left to
 * Kubernetes. Throws as `View.until` does.
 */
export async function provisionTrials({
  clients,
  view,
  template,
}: TrialContext): Promise<readonly string[]> {
  const { namespace, plan } = template;
  const [node] = plan.nodes;
  for (const trial of plan.list) {
    const body = claimObject(template, trial);
    await clients.core.createNamespacedPersistentVolumeClaim({ namespace, body });
  }
  const what = { what: 'all volumes are made', timeoutMs: provisionMs };
  await view.until(what, () => {
    const open = plan.list.filter(({ name }) => view.claim(name)?.status?.phase !== 'Bound');
    const said = open.flatMap(({ name }) => view.eventsOf(name)).at(-1)?.message;
    return open.length === 0 || `${open.length} are not: ${said ?? 'no event yet'}`;
  });
  return Promise.all(
    plan.list.filter(endsAttachment).map(async ({ name }) => {
      const volume = view.claim(name)?.spec?.volumeName ?? '';
      const reading = clients.core.readPersistentVolume({ name: volume });
      const { spec } = await answered(clients, `read the volume ${volume}`, reading);
      return attachmentName(spec?.csi?.volumeHandle ?? '', spec?.csi?.driver ?? '', node);
    }),
  );
}

const endsAttachment = ({ variant }: ProbeTrial): boolean => variant !== 'force-deleted';

export interface GrantRequest {
  readonly home: Home;
  /** Where the role goes. */
  readonly file: string;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Throws InfrastructureError `GRANT_TIMED_OUT`; as `answered` does. */
export async function waitForGrant(
  clients: ProbeClients,
  names: readonly string[],
  { home, file, say, signal }: GrantRequest,
): Promise<void> {
  const review = clients.authentication.createSelfSubjectReview({ body: {} });
  const { status } = await answered(clients, 'asked who you are', review);
  const to = granteeOf(status?.userInfo?.username ?? '');
  const role = `${home.namespace}-attachments`;
  const objects = rbacObjects(role, attachmentNeeds(names), { to, home });
  writeOutput(file, objects.map((object) => stringify(object)).join('---\n'));
  const apply = kubectl(clients, `apply -f ${file}`);
  say(`waiting until you grant the deletion of ${names.length} attachments: ${apply}`);
  for (const endMs = nowMs() + grantMs; ; ) {
    const missing = await missingRights(clients, attachmentNeeds(names));
    if (missing.length === 0) return say('granted');
    if (nowMs() > endMs) {
      throw new InfrastructureError(
        'GRANT_TIMED_OUT',
        `the right is still missing after ${grantMs / 60_000} minutes: ${missing[0]}`,
        {
          hint: 'the next run has other volumes, and so other names: grant those in time',
          command: apply,
        },
      );
    }
    await sleep(lookMs, undefined, { signal });
  }
}

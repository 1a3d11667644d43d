/** Samples of the metrics that manifests/prevention/alerts.yaml reads, and which alerts fire on them, by promtool. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';

const rules = resolve('manifests/prevention/alerts.yaml');
/** How often Prometheus scrapes and evaluates here. */
export const scrapeS = 15;

/** .ci/setup installs it. */
export const hasPromtool = ((): boolean => {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
})();

/** What a scrape sees; names by Kubernetes, and the series of a claim and its pods. */
export interface Scrape {
  /** Node → whether it is Ready; one that was deleted is absent. */
  readonly nodes: ReadonlyMap<string, boolean>;
  readonly attachments: readonly {
    readonly name: string;
    readonly volume: string;
    readonly node: string;
    readonly isAttached: boolean;
  }[];
  /** Of pods that use the volume. */
  readonly pods: readonly {
    readonly name: string;
    readonly node: string;
    readonly volume: string;
  }[];
  /** Reason → count of forced detaches; absent until the first. */
  readonly forced: Readonly<Record<string, number>>;
}

const labels = (of: Readonly<Record<string, string>>): string =>
  Object.entries(of)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',');

function samplesOf({ nodes, attachments, pods, forced }: Scrape): ReadonlyMap<string, number> {
  const samples = new Map<string, number>();
  const put = (metric: string, of: Readonly<Record<string, string>>, value = 1): void =>
    void samples.set(`${metric}{${labels(of)}}`, value);
  const manager = { job: 'controller-manager', instance: 'control-plane:10257' };
  put('up', manager);
  for (const [reason, count] of Object.entries(forced))
    if (count > 0)
      put(
        'attach_detach_controller_attachdetach_controller_forced_detaches',
        { ...manager, reason },
        count,
      );
  for (const [node, ready] of nodes)
    put('kube_node_status_condition', { node, condition: 'Ready', status: 'true' }, ready ? 1 : 0);
  for (const { name: volumeattachment, volume: volumename, node, isAttached } of attachments) {
    put('kube_volumeattachment_info', { volumeattachment, node, attacher: 'driver' });
    put('kube_volumeattachment_spec_source_persistentvolume', { volumeattachment, volumename });
    put('kube_volumeattachment_status_attached', { volumeattachment }, isAttached ? 1 : 0);
    const claim = { namespace: 'default', persistentvolumeclaim: `claim-${volumename}` };
    put('kube_persistentvolumeclaim_info', { ...claim, volumename });
    put('kube_persistentvolumeclaim_access_mode', { ...claim, access_mode: 'ReadWriteOnce' });
  }
  for (const { name: pod, node, volume } of pods) {
    const own = { namespace: 'default', pod };
    put('kube_pod_info', { ...own, node });
    put('kube_pod_spec_volumes_persistentvolumeclaims_info', {
      ...own,
      persistentvolumeclaim: `claim-${volume}`,
    });
  }
  return samples;
}

/** Each series with a value, or a gap, for each scrape. */
function seriesOf(scrapes: readonly Scrape[]): { series: string; values: string }[] {
  const each = scrapes.map(samplesOf);
  const names = new Set(each.flatMap((samples) => [...samples.keys()]));
  return [...names].map((series) => ({
    series,
    // A series that a scrape lacks is marked as stale.
    values: each.map((samples, at) => samples.get(series) ?? (at === 0 ? '_' : 'stale')).join(' '),
  }));
}

export interface AlertCase {
  readonly name: string;
  /** One every `scrapeS`. */
  readonly scrapes: readonly Scrape[];
  /** Names of the alerts that fire then, sorted; seconds from the first scrape. */
  readonly firing: readonly { readonly atS: number; readonly alerts: readonly string[] }[];
}

const inTurn = (atS: number): string => `${Math.floor(atS / scrapeS) * scrapeS}s`;

/** Throws with promtool's own words where others fire. */
export function checkAlerts(cases: readonly AlertCase[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-alerts-'));
  try {
    const file = join(folder, 'alerts.test.yaml');
    const tests = cases.map(({ name, scrapes, firing }) => ({
      name,
      interval: `${scrapeS}s`,
      input_series: seriesOf(scrapes),
      promql_expr_test: firing.map(({ atS, alerts }) => ({
        expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: inTurn(atS),
        exp_samples: alerts.map((alertname) => ({
          labels: `{alertname="${alertname}"}`,
          value: 1,
        })),
      })),
    }));
    const content = { rule_files: [rules], evaluation_interval: `${scrapeS}s`, tests };
    writeFileSync(file, stringify(content, { lineWidth: 0 }));
    execFileSync('promtool', ['test', 'rules', file], { encoding: 'utf8', stdio: 'pipe' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What is printed to be run inside a cluster: that it is whole, and that Sonobuoy would read it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { jobText, sonobuoyText, type ProbeJobRequest } from './job.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-job-'));
afterAll(() => rmSync(folder, { recursive: true }));

const request: ProbeJobRequest = {
  ...{ image: 'registry.example/probe:1', words: ['--storage-class', 'fast', '--run'] },
  namespace: 'storage-team',
};
const cut = { node: 'worker-3', marks: true, healAfterMs: 600_000 };

interface Rule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

const objectsOf = (text: string) =>
  parseAllDocuments(text).map(
    (each) =>
      each.toJS() as {
        readonly kind: string;
        readonly metadata: { readonly name: string; readonly namespace?: string };
        readonly rules?: readonly Rule[];
        readonly spec?: { readonly template: { readonly spec: Readonly<Record<string, unknown>> } };
      },
  );

test('namespace, account, rights, Job: in an order that can be applied', () => {
  const objects = objectsOf(jobText(request));
  expect(objects.map(({ kind }) => kind)).toEqual([
    ...['Namespace', 'ServiceAccount'],
    ...['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
    ...['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding', 'Job'],
  ]);
  const pod = JSON.stringify(objects.at(-1)?.spec?.template.spec);
  expect(pod).toContain(
    '"args":["probe","--storage-class","fast","--run","--namespace","storage-team","--image","registry.example/probe:1",',
  );
});

test('outside its namespace trials change nothing but attachments', () => {
  const role = objectsOf(jobText(request)).find(({ kind }) => kind === 'ClusterRole');
  const changing = role?.rules?.filter(({ verbs }) => verbs.some((verb) => !/get|list/.test(verb)));
  expect(changing).toEqual([
    expect.objectContaining({ resources: ['volumeattachments'], verbs: ['get', 'delete', 'list'] }),
  ]);
});

test('which attachments it may end is limited for its account alone, and it says so itself', () => {
  const [space, , policy, binding] = objectsOf(jobText(request));
  const name = 'forcedetach-probe-storage-team';
  expect(space?.metadata).toMatchObject({ annotations: { 'forcedetach.probe/policy': name } });
  expect(policy?.metadata.name).toBe(name);
  const text = JSON.stringify(policy);
  expect(text).toContain("== 'system:serviceaccount:storage-team:forcedetach-probe'");
  expect(text).toContain("params.spec.claimRef.namespace == 'storage-team'");
  expect(binding?.spec).toMatchObject({ policyName: name, validationActions: ['Deny'] });
  const cuts = objectsOf(jobText({ ...request, cut })).map(({ kind }) => kind);
  expect(cuts).not.toContain('ValidatingAdmissionPolicy');
});

test('a cut marks the one node, ends no attachment, and its Job runs elsewhere', () => {
  const objects = objectsOf(jobText({ ...request, cut }));
  const rules = objects.flatMap((object) => object.rules ?? []);
  expect(rules).toContainEqual(
    expect.objectContaining({ resources: ['nodes'], resourceNames: ['worker-3'] }),
  );
  const attachments = rules.filter(({ resources }) => resources.includes('volumeattachments'));
  expect(attachments.map(({ verbs }) => verbs)).toEqual([['get', 'list']]);
  const pod = objects.at(-1)?.spec?.template.spec;
  expect(pod?.['terminationGracePeriodSeconds']).toBe(900);
  expect(JSON.stringify(pod?.['affinity'])).toContain('"NotIn","values":["worker-3"]');
});

/** `Manifest` of Sonobuoy's pkg/plugin/manifest, and docs/plugins: what it reads, and nothing else. */
const pluginSchema = z.strictObject({
  'sonobuoy-config': z.strictObject({
    driver: z.enum(['Job', 'DaemonSet']),
    'plugin-name': z.string().regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/),
    'result-format': z.enum(['raw', 'junit', 'manual', 'e2e', 'gojson']).optional(),
    'result-files': z.array(z.string()).optional(),
    'skip-cleanup': z.boolean().optional(),
    description: z.string().optional(),
    'source-url': z.string().optional(),
  }),
  spec: z.looseObject({
    name: z.string(),
    image: z.string(),
    command: z.array(z.string()),
    args: z.array(z.string()),
    volumeMounts: z.array(z.strictObject({ name: z.literal('results'), mountPath: z.string() })),
  }),
  podSpec: z.looseObject({
    containers: z.array(z.unknown()),
    restartPolicy: z.literal('Never'),
    serviceAccountName: z.literal('sonobuoy-serviceaccount'),
  }),
  'extra-volumes': z.array(z.unknown()).optional(),
  'config-map': z.record(z.string(), z.string()).optional(),
});

test.each([undefined, cut])('Sonobuoy’s form, cut: %o', (asked) => {
  const plugin = pluginSchema.parse(
    parse(sonobuoyText({ ...request, ...(asked && { cut: asked }) })),
  );
  expect(plugin.spec.args).toEqual([...request.words, '--image', request.image]);
});

test.each([0, 4])('the plugin’s script says where its results are, exit code %i', (code) => {
  const { spec } = pluginSchema.parse(parse(sonobuoyText(request)));
  const results = join(folder, `results-${code}`);
  const program = join(folder, 'forcedetach');
  writeFileSync(
    program,
    `#!/bin/sh\nwhile [ "$1" != --junit ]; do shift; done\necho "<testsuites/>" > "$2"\nexit ${code}\n`,
    { mode: 0o755 },
  );
  const [shell = '', ...words] = [...spec.command, ...spec.args];
  const env = { PATH: `${folder}:${process.env['PATH']}`, SONOBUOY_RESULTS_DIR: results };
  execFileSync(shell, words, { env });
  const done = readFileSync(join(results, 'done'), 'utf8');
  expect(existsSync(done)).toBe(true);
  const listed = execFileSync('tar', ['-tzf', done], { encoding: 'utf8' });
  expect(listed.split('\n')).toEqual(expect.arrayContaining(['./probe.txt', './detach.xml']));
  const said = execFileSync('tar', ['-xzOf', done, './probe.txt'], { encoding: 'utf8' });
  expect(said.trim()).toBe(code === 0 ? '' : `exit code ${code}`);
});

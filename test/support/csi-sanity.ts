/** Runs csi-test's conformance suite against a driver that listens, and reads its report. Needs Go. */
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { $ } from '../../lib/kind/engine/shell.ts';
import { InfrastructureError } from '../../lib/core/errors.ts';
import { contentKey } from '../../lib/core/source.ts';

const root = resolve(import.meta.dirname, '../..');
const cache = join(root, 'node_modules/.cache/forcedetach');
const moduleFolder = join(root, 'test/csi-sanity');

export interface SanityRequest {
  /** Sockets of the node service and of the controller service. */
  readonly nodeSocket: string;
  readonly controllerSocket: string;
  /** A folder of its own, where volumes are mounted. */
  readonly folder: string;
  /** File systems, or raw devices. */
  readonly accessType: 'mount' | 'block';
}

export interface SanityResult {
  readonly passed: number;
  readonly failed: number;
  /** Of services that the driver doesn't offer, e.g. snapshots. */
  readonly skipped: number;
  /** Whole names, and what was expected. */
  readonly failures: readonly string[];
  readonly skippedNames: readonly string[];
}

const mebibyte = 2 ** 20;
const volumeBytes = 64 * mebibyte;

const specSchema = z.object({
  ContainerHierarchyTexts: z.array(z.string()).nullable(),
  LeafNodeType: z.string(),
  LeafNodeText: z.string(),
  State: z.string(),
  Failure: z.object({ Message: z.string() }).optional(),
});
const reportSchema = z.array(z.object({ SpecReports: z.array(specSchema) }));
type Spec = z.output<typeof specSchema>;

/** Rejects where the suite could not run; a failed test is a result. */
export async function runSanity(request: SanityRequest): Promise<SanityResult> {
  const report = join(request.folder, 'report.json');
  mkdirSync(request.folder, { recursive: true });
  const flags = [
    `--csi.endpoint=unix://${request.nodeSocket}`,
    `--csi.controllerendpoint=unix://${request.controllerSocket}`,
    `--csi.mountdir=${join(request.folder, 'mount')}`,
    `--csi.stagingdir=${join(request.folder, 'staging')}`,
    `--csi.testvolumeaccesstype=${request.accessType}`,
    `--csi.testvolumesize=${volumeBytes}`,
    `--csi.testvolumeexpandsize=${2 * volumeBytes}`,
    '--ginkgo.no-color',
    '--ginkgo.seed=1',
    '--ginkgo.timeout=10m',
    `--ginkgo.json-report=${report}`,
  ];
  const { output, exitCode } = await suite(flags);
  if (!existsSync(report)) {
    throw new InfrastructureError(
      'SANITY_FAILED',
      `csi-sanity ended with ${exitCode} and no report: ${output}`,
    );
  }
  return readReport(readFileSync(report, 'utf8'));
}

async function suite(flags: readonly string[]): Promise<{ output: string; exitCode: number }> {
  const ended = await $({ quiet: true, nothrow: true })`${await sanityProgram()} ${flags}`;
  return { output: ended.stderr.trim(), exitCode: ended.exitCode ?? -1 };
}

/** Counts tests, not what is done before and after them unless that fails. */
export function readReport(text: string): SanityResult {
  const specs = reportSchema.parse(JSON.parse(text)).flatMap((suite) => suite.SpecReports);
  const of = (...states: string[]): Spec[] => specs.filter(({ State }) => states.includes(State));
  const failed = specs.filter(({ State }) => !['passed', 'skipped', 'pending'].includes(State));
  const skipped = of('skipped', 'pending');
  return {
    passed: of('passed').filter(({ LeafNodeType }) => LeafNodeType === 'It').length,
    failed: failed.length,
    skipped: skipped.length,
    failures: failed.map((spec) => `${nameOf(spec)}: ${spec.Failure?.Message ?? spec.State}`),
    skippedNames: skipped.map(nameOf),
  };
}

const nameOf = ({ ContainerHierarchyTexts, LeafNodeType, LeafNodeText }: Spec): string =>
  [...(ContainerHierarchyTexts ?? []), LeafNodeText || LeafNodeType].join(' ');

/** Path of the suite: built once per version that go.mod names, which takes half a minute. */
export async function sanityProgram(): Promise<string> {
  const files = ['go.mod', 'go.sum'].map((name) => join(moduleFolder, name));
  const program = join(cache, `csi-sanity-${contentKey(files, [])}`);
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  const fresh = `${program}.${process.pid}`;
  const env = { ...process.env, CGO_ENABLED: '0' };
  const suite = 'github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity';
  await $({ cwd: moduleFolder, env, quiet: true })`go build -trimpath -o ${fresh} ${suite}`;
  renameSync(fresh, program);
  return program;
}

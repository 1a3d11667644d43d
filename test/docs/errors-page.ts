/** docs/reference/errors.md: every error of the one family, read from where the source throws it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor, type Expression, type ObjectExpression } from 'oxc-parser';
import { refusalRows } from '../../lib/probe/refusals.ts';

export const path = 'docs/reference/errors.md';

/** Classes of lib/core/errors.ts, with the exit code and what it means. */
const families = {
  UsageError: ['Exit code 2: you can put it right', 'Nothing was made yet.'],
  EvidenceError: [
    'Exit code 3: evidence is missing or damaged',
    'The run, or what is read, proves nothing. A run heals and cleans up first.',
  ],
  InfrastructureError: [
    'Exit code 4: the machine, the engine or the cluster can’t do it',
    'A run heals and cleans up first, as far as it can.',
  ],
} as const;
type Family = keyof typeof families;

interface ErrorCode {
  readonly family: Family;
  readonly code: string;
  readonly says: string;
  readonly mend: string;
}

const isFamily = (name: string): name is Family => name in families;

/** What is put together at run time appears as an ellipsis. */
class Words {
  readonly #constants = new Map<string, Expression>();

  note(name: string, value: Expression): void {
    this.#constants.set(name, value);
  }

  of(node: Expression | undefined): string {
    if (node === undefined) return '…';
    if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : '…';
    if (node.type === 'TemplateLiteral') {
      return node.quasis.map(({ value }) => value.cooked ?? '').join('…');
    }
    if (node.type === 'BinaryExpression')
      return this.of(node.left as Expression) + this.of(node.right);
    if (node.type === 'ConditionalExpression') {
      return `${this.of(node.consequent)} / ${this.of(node.alternate)}`;
    }
    if (node.type === 'ArrayExpression') {
      return node.elements.map((each) => this.of(each as Expression)).join(' ');
    }
    return node.type === 'Identifier' ? this.#named(node.name) : '…';
  }

  #named(name: string): string {
    const value = this.#constants.get(name);
    if (value === undefined) return '…';
    // One that is made of itself would have no end.
    this.#constants.delete(name);
    const words = this.of(value);
    this.#constants.set(name, value);
    return words;
  }

  property(object: ObjectExpression, name: string): string {
    for (const each of object.properties) {
      if (each.type !== 'Property' || each.key.type !== 'Identifier') continue;
      if (each.key.name === name) return this.of(each.value);
    }
    return '';
  }
}

function codesIn(file: string): ErrorCode[] {
  const { program } = parseSync(file, readFileSync(file, 'utf8'));
  const words = new Words();
  const found: ErrorCode[] = [];
  const add = (family: Family, [code, says, detail]: readonly Expression[], mend: string): void => {
    const name = words.of(code);
    if (!/^[A-Z_…]{3,}$/.test(name) || name === '…') return;
    const given = detail?.type === 'ObjectExpression' ? detail : undefined;
    const parts =
      given === undefined ? [] : [words.property(given, 'hint'), words.property(given, mend)];
    const command = parts[1] === undefined || parts[1] === '' ? '' : `\`${parts[1]}\``;
    const again = given === undefined ? '' : words.property(given, 'again');
    const repeat = again === '' ? '' : `the same command with \`${again}\``;
    const mends = [parts[0] ?? '', command, repeat].filter((part) => part !== '' && part !== '…');
    found.push({ family, code: name, says: words.of(says), mend: mends.join('; ') });
  };
  const constants = new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && init !== null) words.note(id.name, init);
    },
  });
  const errors = new Visitor({
    NewExpression({ callee, arguments: given }) {
      if (callee.type !== 'Identifier' || !isFamily(callee.name)) return;
      add(callee.name, given as Expression[], 'command');
    },
    // The doctor's checks: a start stops with the code of the first that fails.
    CallExpression({ callee, arguments: given }) {
      if (callee.type !== 'Identifier') return;
      if (callee.name === 'judge') add('InfrastructureError', given as Expression[], 'mend');
      // What the probe refuses has its hint in one table, but where the message brings another one.
      const row = refusalRows.find(({ code }) => code === words.of(given[0] as Expression));
      if (callee.name !== 'refusal' || row === undefined) return;
      add(row.family, given as Expression[], 'command');
      const last = found.at(-1);
      if (last?.mend === '') found.splice(-1, 1, { ...last, mend: row.hint });
    },
  });
  constants.visit(program);
  errors.visit(program);
  return found;
}

/** Those of programs inside containers are read in a log; they do not appear at a terminal. */
const isInside = (file: string): boolean =>
  /^lib\/(storage|kind\/self-fence)\/|-tool\.ts$/.test(file);

const cell = (text: string): string =>
  text
    .replaceAll('|', '\\|')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('<', '&lt;');

function table(codes: readonly ErrorCode[]): string {
  const byCode = [...Map.groupBy(codes, ({ code }) => code)].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const rows = byCode.map(([code, each]) => {
    const says = [...new Set(each.map((one) => one.says))].join('; or: ');
    const mends = [...new Set(each.map((one) => one.mend))].filter(Boolean).join('; or: ');
    return `| \`${code}\` | ${cell(says)} | ${cell(mends) || '–'} |\n`;
  });
  return `| Code | Message | What to do |\n| --- | --- | --- |\n${rows.join('')}`;
}

const opening = `# Every error

What does an error's code mean, and what do you do about it? \`…\` stands for a name, a number or a path. [How errors are built](inputs.md); [common ones by symptom](../how-to/troubleshooting.md); codes of *verdicts* and findings: [verdicts](verdicts.md). A code such as \`ENOSPC\` or \`EACCES\` is the system's own. This page is made from the source.
`;

export function renderedPage(): string {
  const files = readdirSync('lib', { recursive: true, encoding: 'utf8' })
    .map((name) => join('lib', name))
    .filter((name) => name.endsWith('.ts') && !/\.test\.ts$|\/gen\//.test(name))
    .toSorted();
  const outside = files.filter((file) => !isInside(file)).flatMap(codesIn);
  const inside = files.filter(isInside).flatMap(codesIn);
  const sections = (Object.keys(families) as Family[]).map((family) => {
    const [title, about] = families[family];
    return `## ${title}\n\n${about}\n\n${table(outside.filter((each) => each.family === family))}`;
  });
  const within = `## Inside the cluster and the audit\n\nErrors of the disk's driver, its tools, the sidecar and the audit, which run in containers. They show as the cause of another error, in a container's log, or as an event of the pod (\`FailedMount\`).\n\n${table(inside)}`;
  return [opening, ...sections, within].join('\n');
}

/** What `risk` read of a cluster, as a page that fetches nothing. */
import { html } from 'hono/html';
import { card, renderDocument, texts, wideTable } from '../../report/index.ts';
import { checks, riskBasis, type RiskLevel, type RiskReport } from '../risk.ts';

const tones = {
  'at risk': 'corrupt',
  ask: 'exposed',
  unread: 'inconclusive',
  safe: 'safe',
} as const satisfies Readonly<Record<RiskLevel, string>>;

export function renderRiskHtml({ context, kubernetes, level, lines, ...of }: RiskReport) {
  return renderDocument({
    title: `${context}: ${level}`,
    screen: {
      top: 'forcedetach risk',
      ...{ tone: tones[level], word: level },
      headline: `Can a lost node destroy a database on ${context}? ${level}`,
      ...{ sentence: riskBasis, notes: [] },
      chips: [{ text: `Kubernetes ${kubernetes}` }, { text: `asked at ${of.askedAt}` }],
    },
    main: html`${Object.entries(checks).map(([number, title]) =>
      card(
        `${number}. ${title}`,
        wideTable(
          title,
          ['Answer', 'What', ...texts('Found', 'It means', 'Read from')],
          lines
            .filter(({ check }) => check === Number(number))
            .map((each) => [each.level, each.what, each.found, each.means, each.source]),
        ),
      ),
    )}`,
  });
}

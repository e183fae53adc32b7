/** The form of what the levels of priority arrays are called at this site. */
import { type LevelMeaning, levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { say } from '#shared/node/http/language.ts'

type LevelsModel = { levels: LevelMeaning[]; isSaved: boolean; csrf: string }

export const levelsBody = ({ levels, isSaved, csrf }: LevelsModel): Html => html`<p class="crumbs"><a href="/setup">Set-up</a></p>
<h1>Priority levels</h1>
<p class="lead">What P1 to P16 are called at this site, and at which of them somebody overrides the programs. <a href="/overrides">Overrides</a>, points, rules and the hub go by it from now on.</p>
${isSaved && html`<p class="notice" role="status">The priority levels are saved.</p>`}
<form class="card" method="post" action="/site/levels">${csrfField(csrf)}
<p class="muted">An empty name is that of the standard (ASHRAE 135), which leaves most levels to the site: ask who programmed the controllers what writes where. The next run of the rules evaluates its days anew when the overrides change.</p>
<table class="tried levels"><thead><tr><th scope="col">Level</th><th scope="col">Name</th><th scope="col">Override</th></tr></thead>
<tbody>${levels.map((one, i) => levelRow(one, i + 1))}</tbody></table>
<p><button class="primary">Save</button></p></form>`

function levelRow({ name, override }: LevelMeaning, level: number): Html {
  const standard = levelMeanings()[level - 1]!.name
  return html`<tr><td data-label="Level"><div><strong>P${level}</strong></div></td>
<td data-label="Name"><div><input name="name_${level}" value="${name === standard ? '' : name}" placeholder="${say(standard)}" maxlength="60" autocomplete="off" aria-label="${say`Name of P${level}`}"></div></td>
<td data-label="Override"><div><input type="checkbox" class="pick" name="override_${level}" value="yes"${override && html` checked`} aria-label="${say`P${level} is an override`}"></div></td></tr>`
}

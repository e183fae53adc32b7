import test from 'ava'
import fc from 'fast-check'
import { Html, html, raw } from '#shared/node/http/html.ts'
import { ERRORS_MAX, Problem, toProblemJson } from '#shared/core/problem.ts'

test('a value never opens a tag or ends an attribute', t => {
  fc.assert(
    fc.property(fc.string(), text => {
      const inside = html`<p title="${text}">${text}</p>`.text.slice('<p title="'.length, -'</p>'.length)
      return !/[<"']/.test(inside.replace('">', ''))
    }),
  )
  t.is(html`<b>${'<script>'}</b>`.text, '<b>&lt;script&gt;</b>')
})

test('markup nests, lists join, and nothing leaves nothing', t => {
  t.is(html`${[html`<i>${1}</i>`, raw('<br>')]}${null}${undefined}${false}${0}`.text, '<i>1</i><br>0')
  t.true(html`x` instanceof Html)
})

test('a problem says its status, its code and where', t => {
  const errors = Array.from({ length: ERRORS_MAX + 20 }, (_, row) => ({ row, message: 'no number' }))
  const body = toProblemJson(new Problem('package_invalid', 'column sa_t has no numbers', errors), {
    instance: '/api/x',
    request_id: 'r1',
  })
  t.like(body, {
    status: 422,
    code: 'package_invalid',
    ok: false,
    error: 'column sa_t has no numbers',
    errors_total: ERRORS_MAX + 20,
  })
  t.is(body.errors?.length, ERRORS_MAX)
})

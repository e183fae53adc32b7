/** Whether a backlog becomes smaller, in words: on the pages of a box and of the hub. */
import type { BacklogCourse } from '#shared/core/telemetry/backlog.ts'
import { formatDuration, MINUTE } from '#shared/core/time.ts'
import { formatMoment, type Here } from '#shared/central/ui/moment.ts'
import { say, sayCount } from '#shared/node/http/language.ts'

/** The same for a column of a list: what it comes to, without the rate of one that falls. */
export function courseShort(course: BacklogCourse, here: Here): string | undefined {
  if (course.state !== 'falling') return courseWords(course, here)
  if (course.empty_at === null) return say`empty in more than 30 days`
  const left = course.empty_at - here.now
  return left < MINUTE ? say`empty within a minute` : say`empty in about ${formatDuration(left)}`
}

/** @returns undefined where nothing is known of it */
export function courseWords(course: BacklogCourse, here: Here): string | undefined {
  if (course.state === 'unknown') return
  if (course.state === 'level') return say`does not become smaller`
  const rate = sayCount(Math.max(1, Math.round(course.per_minute)))
  if (course.state === 'growing') return say`grows by ${rate} a minute`
  if (course.empty_at === null) return say`falls by ${rate} a minute, empty in more than 30 days`
  const left = course.empty_at - here.now
  if (left < MINUTE) return say`falls by ${rate} a minute, empty within a minute`
  return say`falls by ${rate} a minute, empty in about ${formatDuration(left)} (${formatMoment(course.empty_at, here)})`
}

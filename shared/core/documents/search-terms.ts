/** What a person types, as a query of SQLite's full-text search. Each word is quoted, so nothing typed is syntax. */

/** Longest query, characters: a long question. */
export const QUERY_MAX = 400
/** Words of a query beyond these are ignored: each one is looked up by itself. */
const WORDS_MAX = 32

/** Words that say nothing of what is looked for. */
const COMMON = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my no not of ' +
    'on or our should so than that the their them then there these they this to was we were what when where which who why will with would you your'
  ).split(' '),
)

/** @returns the words to look for, each once; all of them where every one is common. Empty where there is no letter or digit */
export function searchTerms(query: string): string[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_.'’-]*/gu) ?? []
  const wanted = words.filter(word => !COMMON.has(word))
  return [...new Set(wanted.length > 0 ? wanted : words)].slice(0, WORDS_MAX)
}

/** @param terms of `searchTerms`, at least one. @returns an FTS5 expression; a term of several tokens is a phrase */
export const matchTerms = (terms: readonly string[], how: 'AND' | 'OR'): string =>
  terms.map(term => `"${term.replaceAll('"', '""')}"`).join(` ${how} `)

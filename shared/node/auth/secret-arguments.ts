/** Everybody on a machine sees the arguments of its processes (`ps`), and shells store them, so a secret must not be an argument. */

/** Ends of names that are secrets, in whatever process. What ends in `_FILE` names a path. */
const SECRET_NAME = /(^|_)(PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIALS?|(API|PRIVATE|ACCESS)_?KEY)$/

/**
 * @param isSecret further names that are secrets
 * @returns a complaint for each word that names a secret or holds an address with a password; never with the value
 */
export function secretArguments(argv: readonly string[], isSecret: (name: string) => boolean = () => false): string[] {
  return argv.flatMap(word => {
    const { name, key } = argumentName(word)
    if (key !== undefined && (isSecret(key) || SECRET_NAME.test(key))) {
      const way = `set it in the environment, or name its file with ${key}_FILE`
      return [`${name}: a secret on the command line is seen by everybody who lists processes; ${way}`]
    }
    if (/:\/\/[^/?#\s@]*:[^/?#\s@]*@/.test(word)) {
      return [`${name || 'an argument'}: an address with a password on the command line is seen by everybody who lists processes`]
    }
    return []
  })
}

/** @returns what stands before `=`, and that as the name of a variable; `key` undefined for a word that names nothing */
function argumentName(word: string): { name: string; key: string | undefined } {
  const [, dashes = '', name = '', equals] = /^(-{0,2})([A-Za-z][\w.-]*)(=)?/.exec(word) ?? []
  const isName = name !== '' && (dashes !== '' || equals !== undefined)
  return { name: isName ? name : '', key: isName ? name.toUpperCase().replaceAll(/[.-]/g, '_') : undefined }
}

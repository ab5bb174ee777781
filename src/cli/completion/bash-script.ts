/**
 * For bash 4 and newer, without the package bash-completion. What has been typed is passed on, never evaluated. `:` and
 * `=` split words in bash: they are joined again, and what bash regards as written is cut off from each answer.
 */
export const bashScript = (name: string): string => `# bash completion for ${name}
_${name}_complete() {
  local line="\${COMP_LINE:0:COMP_POINT}" words cur value
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  cur="\${words[\${#words[@]}-1]}"
  COMPREPLY=()
  while IFS=$'\\t' read -r value _; do
    [[ "$value" == :* ]] && continue
    [[ "$cur" == -*=* ]] && value="\${cur%%=*}=$value"
    [[ "$value" != "$cur"* ]] && continue
    COMPREPLY+=("$value")
  done < <(${name} complete -- "\${words[@]:1}" 2>/dev/null)
  local cut="\${cur%"\${cur##*[:=]}"}"
  COMPREPLY=("\${COMPREPLY[@]#"$cut"}")
  [[ \${#COMPREPLY[@]} -eq 1 && "\${COMPREPLY[0]}" == *[=/:] ]] && compopt -o nospace
  return 0
}
complete -o default -F _${name}_complete ${name}
`;

/** For zsh, after `compinit`. What has been typed is passed on, never evaluated; files follow where nothing is found. */
export const zshScript = (name: string): string => `#compdef ${name}
_${name}() {
  local -a found open
  local value description
  while IFS=$'\\t' read -r value description; do
    [[ "$value" == :* ]] && continue
    if [[ "$value" == *[/:] ]]; then open+=("\${value//:/\\\\:}:$description")
    else found+=("\${value//:/\\\\:}:$description"); fi
  done < <(${name} complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  [[ "$words[CURRENT]" == -*=* ]] && compset -P '*='
  _describe ${name} found -- open -S '' || _files
}
compdef _${name} ${name}
`;

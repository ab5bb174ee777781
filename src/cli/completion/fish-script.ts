/** For fish 3 and newer. What has been typed is passed on, never evaluated; files follow where nothing is found. */
export const fishScript = (name: string): string => `# fish completion for ${name}
function __${name}_found
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l before (string match -r -- '^-[^=]*=' "$current")
    set -g __${name}_values
    for value in (${name} complete -- $words[2..-1] "$current" 2>/dev/null)
        string match -q -- ':*' "$value"; or set -a __${name}_values "$before$value"
    end
    test (count $__${name}_values) -gt 0
end
complete -c ${name} -e
complete -c ${name} -n __${name}_found -f -a '$__${name}_values'
`;

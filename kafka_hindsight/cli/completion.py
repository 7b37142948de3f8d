"""Completion of `hindsight` in bash and zsh: a script made from the command line's own declaration."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SHELLS = ("bash", "zsh")


@dataclass(frozen=True)
class Verb:
    """The options of one verb: those that stand alone, and those that want a value."""

    flags: Sequence[str]
    valued: Sequence[str]


_SCRIPT = """\
# Completion of hindsight, made by `hindsight completion {shell}`.
{prelude}_hindsight() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} said=
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        said={verbs}
    else
        case "$prev" in
            {valued}) return ;;
        esac
        case "${{COMP_WORDS[1]}} $prev $cur" in
{values}
{options}
            'sql '*) said=$(cd {queries} 2>/dev/null && printf '%s\\n' *.sql | sed 's/\\.sql$//') ;;
            'completion '*) said={shells} ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$said" -- "$cur"))
}}
complete -o default -F _hindsight hindsight
"""
_PRELUDE = {
    "bash": "",
    "zsh": "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\n"
    "autoload -Uz bashcompinit && bashcompinit\n",
}


def script(shell: str, parser: argparse.ArgumentParser, values: Mapping[str, Iterable[str]], queries: Path) -> str:
    """The script for one of SHELLS.

    Takes: the command line; the words that stand behind an option; the folder whose files name the queries.
    Gives: text that completes verbs, options, values and named queries, and files elsewhere. Queries are listed when
        they are asked for, all else as it is declared now.
    """
    verbs = verbs_of(parser)
    valued = sorted({option for verb in verbs.values() for option in verb.valued} - values.keys())
    return _SCRIPT.format(
        shell=shell,
        prelude=_PRELUDE[shell],
        verbs=_list(verbs),
        values="\n".join(f"            *' {option} '*) said={_list(said)} ;;" for option, said in values.items()),
        valued="|".join(valued),
        options="\n".join(
            f"            '{name} '*' -'*) said={_list((*v.flags, *v.valued))} ;;" for name, v in verbs.items()
        ),
        queries=shlex.quote(str(queries)),
        shells=_list(SHELLS),
    )


def verbs_of(parser: argparse.ArgumentParser) -> dict[str, Verb]:
    """Every verb with its options."""
    (group,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {name: _verb(of._actions) for name, of in sorted(group.choices.items())}


def _verb(actions: Sequence[argparse.Action]) -> Verb:
    named = [(option, a) for a in actions for option in a.option_strings if option.startswith("--")]
    return Verb([option for option, a in named if a.nargs == 0], [option for option, a in named if a.nargs != 0])


def _list(words: Iterable[str]) -> str:
    return shlex.quote(" ".join(words))

"""The first page of help: commands by what people want to do, and the scripts that complete them in a shell."""

import argparse
from collections.abc import Iterator

__all__ = ["WANTED", "commands_of", "completion", "first_page"]

WANTED = {
    "Start": ("init", "profile", "studio"),
    "Release": ("release", "tradeoff", "apply", "noise", "answer", "ledger"),
    "Check": ("verify", "audit", "explain", "risk"),
    "Use a released table": ("estimate",),
    "When something fails": ("help",),
    "For specialists": ("solve", "read", "calibrate", "gaussian", "channel", "convert", "figures", "completion"),
}
"""What people want to do, and the commands for it; a command that is not named here comes last."""

WIDTH = 12


def first_page(top: argparse.ArgumentParser) -> str:
    """The help of the program: what it does, and its commands in groups."""
    helps = {action.dest: action.help or "" for action in _commands(top)._choices_actions}
    named = {name for names in WANTED.values() for name in names}
    groups = dict(WANTED) | {"More": tuple(name for name in helps if name not in named)}
    lines = ["usage: dalenius COMMAND ...", "", top.description or ""]
    for title, names in groups.items():
        known = [name for name in names if name in helps]
        if known:
            lines += ["", f"{title}:", *(f"  {name:<{WIDTH}} {helps[name]}" for name in known)]
    return "\n".join([*lines, "", top.epilog or "", ""])


def completion(top: argparse.ArgumentParser, shell: str) -> str:
    """A script that completes commands, options and choices in a shell."""
    options = {name: sorted(_options(sub)) for name, sub in _commands(top).choices.items()}
    names = " ".join(options)
    if shell == "fish":
        lines = [f"complete -c dalenius -n __fish_use_subcommand -f -a '{names}'"]
        for name, flags in options.items():
            long = (flag.removeprefix("--") for flag in flags if flag.startswith("--"))
            lines += [f"complete -c dalenius -n '__fish_seen_subcommand_from {name}' -l {flag}" for flag in long]
        return "\n".join(lines) + "\n"
    cases = "\n".join(f'    {name}) options="{" ".join(flags)}" ;;' for name, flags in options.items())
    script = f"""\
_dalenius() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" options=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{names}" -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _dalenius dalenius
"""
    return script if shell == "bash" else f"autoload -U +X bashcompinit && bashcompinit\n{script}"


def commands_of(top: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands of the program by their names."""
    return dict(_commands(top).choices)


def _commands(top: argparse.ArgumentParser) -> "argparse._SubParsersAction[argparse.ArgumentParser]":
    return next(action for action in top._actions if isinstance(action, argparse._SubParsersAction))


def _options(sub: argparse.ArgumentParser) -> Iterator[str]:
    """The options of a command that help shows, and the actions below it."""
    for action in sub._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices
        elif action.help is not argparse.SUPPRESS:
            yield from action.option_strings

"""The shell's entrance: `assay check` and its companions. Everything heavy is imported when it is needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from bot.gather import Ask, Wanted
    from rules.core.model import Report, Rule, Snapshot

FORMATS = ("text", "json", "sarif", "markdown", "html")
LEVELS = ("blocking", "high", "medium", "low")
EXIT_FOUND, EXIT_UNUSABLE, EXIT_INCOMPLETE, EXIT_INTERRUPTED = 1, 2, 3, 130


class Unusable(click.ClickException):
    """What the user gave cannot be used; one line on standard error."""

    exit_code = EXIT_UNUSABLE


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="assay", message="assay %(version)s")
def cli() -> None:
    """Reviews evidence: holds what a benchmark campaign's text claims against what the repository's bytes prove."""


@cli.command()
@click.argument("repo", default=".")
@click.option("--head", metavar="REV", help="Commit to review. Default: HEAD.")
@click.option("--base", metavar="REV", help="The base branch's tip. Without it the whole tree is reviewed.")
@click.option("--pull", metavar="FILE", help="GitHub's REST pull object (JSON).")
@click.option("--issue", metavar="FILE", help="GitHub's REST issue object (JSON) with `comments` and `linked_pulls`.")
@click.option("--commits", metavar="FILE", help="Recorded answers of the commit API (JSON) instead of asking it.")
@click.option("--config", metavar="FILE", help="Use this config instead of the repository's .github/assay.yml.")
@click.option("--rule", "only", metavar="ID", multiple=True, help="Run only this rule; may be given several times.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--output", metavar="FILE", help="Write the review there instead of to standard output.")
@click.option("--fail-on", type=click.Choice((*LEVELS, "never")), default="high", show_default=True, help="Exit 1 from this severity on.")
@click.option("--offline", is_flag=True, help="Ask nothing of the network.")
@click.option("--preview", is_flag=True, help="Run rules in preview too.")
def check(repo: str, form: str, output: str | None, fail_on: str, **given: Any) -> None:
    """Review the git repository (or plain folder) REPO.

    Exit status: 0 nothing at or above --fail-on, 1 something, 2 unusable input, 3 the review is incomplete.
    """
    from bot import gather
    from rules.engine.run import discover

    rules = discover()
    try:
        wanted, ask = _wanted(repo, rules, given)
        write = _writer(output)
        gathered = gather.gather(wanted)
    except gather.UnusableInput as error:
        raise Unusable(str(error)) from error
    try:
        with _progress(len(rules)) as progress:
            report = gather.review(gathered, rules, ask, wanted, progress)
        write(_render(report, gathered.snapshot, form, output))
    finally:
        gathered.close()
    sys.exit(_exit_code(report, fail_on))


def _wanted(repo: str, rules: tuple[Rule, ...], given: dict[str, Any]) -> tuple[Wanted, Ask | None]:
    """What is asked for, and who answers the rules' questions."""
    from bot import gather

    known = {rule.id for rule in rules}
    for id in given["only"]:
        if id not in known:
            raise gather.UnusableInput(f"there is no rule {id!r}{_near(id, known)}; `assay rules` lists them.")
    wanted = gather.Wanted(
        folder=repo,
        head=given["head"],
        base=given["base"],
        pull=gather.load_pull(given["pull"]) if given["pull"] else None,
        issue=gather.load_issue(given["issue"]) if given["issue"] else None,
        config=gather.load_config(given["config"]) if given["config"] else None,
        only=given["only"],
        preview=given["preview"],
    )
    if given["commits"]:
        return wanted, gather.recorded(given["commits"])
    return wanted, None


def _near(id: str, known: set[str]) -> str:
    import difflib

    close = difflib.get_close_matches(id, sorted(known), 1)
    return f" (did you mean {close[0]}?)" if close else ""


def _writer(output: str | None) -> Callable[[str], None]:
    """Where the review goes. An output that cannot be written is refused before the work, not after it."""
    from bot.gather import UnusableInput

    if output is None or output == "-":
        return _print
    folder = os.path.dirname(os.path.abspath(output))
    if os.path.isdir(output) or not os.access(output if os.path.exists(output) else folder, os.W_OK):
        raise UnusableInput(f"--output {output} cannot be written.")
    return lambda text: _save(output, text)


def _print(text: str) -> None:
    stream = sys.stdout.buffer
    stream.write(text.encode("utf-8", "replace"))
    stream.flush()


def _save(output: str, text: str) -> None:
    try:
        with open(output, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
    except OSError as error:
        raise Unusable(f"--output {output} cannot be written ({(error.strerror or 'error').lower()}).") from error


class _progress:  # noqa: N801
    """A bar on standard error, where that is a terminal and the work is long."""

    def __init__(self, total: int) -> None:
        self._total = total

    def __enter__(self) -> Callable[[str], None]:
        return lambda _: None

    def __exit__(self, *_: object) -> None:
        return None


def _render(report: Report, snapshot: Snapshot, form: str, output: str | None) -> str:
    from bot.review import render

    if form != "text":
        return render.FORMATS[form](report, snapshot)
    from bot.review.as_text import as_text

    return as_text(report, snapshot, *_terminal(output))


def _exit_code(report: Report, fail_on: str) -> int:
    """The contract of `assay check`."""
    if report.verdict == "incomplete":
        return EXIT_INCOMPLETE
    if fail_on == "never":
        return 0
    counted = LEVELS[: LEVELS.index(fail_on) + 1]
    return EXIT_FOUND if any(one.finding.severity.value in counted for one in report.findings) else 0


def main() -> NoReturn:
    """Run the command line. Whatever the user did wrong is one line on standard error and exit 2."""
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"assay: {' '.join(error.format_message().split())}", err=True)
        code = EXIT_UNUSABLE
    except (click.Abort, KeyboardInterrupt):
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has left (`| head`). Python would complain once more while it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_FOUND
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()

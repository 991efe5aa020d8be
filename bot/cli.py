"""The shell's entrance: `assay check` and its companions. Everything heavy is imported when it is needed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from bot.gather import Ask, Wanted
    from bot.settings import Settings
    from rules.core.model import Answer, Question, Report, Rule, Snapshot, Tree, Unchecked

FORMATS = ("text", "json", "sarif", "markdown", "html")
LEVELS = ("blocking", "high", "medium", "low")
EXIT_FOUND, EXIT_UNUSABLE, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_TERMINATED = 1, 2, 3, 130, 143


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

    rules = _rules()
    try:
        wanted, ask = _wanted(repo, rules, given)
        write = _writer(output)
        gathered = gather.gather(wanted)
    except gather.UnusableInput as error:
        raise Unusable(str(error)) from error
    with gathered:
        with _progress(len(rules)) as progress:
            report = gather.review(gathered, rules, ask, wanted, progress)
        write(_render(report, gathered.snapshot, form, output))
    sys.exit(_exit_code(report, fail_on))


def _rules() -> tuple[Rule, ...]:
    from rules.engine.run import UnusableRules, discover

    try:
        return discover()
    except UnusableRules as error:
        raise Unusable(str(error)) from error


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
    return wanted, None if given["offline"] else _github()


def _github() -> Ask:
    """Asks GitHub's commit API, which is imported when there is a question."""
    from bot.gather import UnusableInput

    url = os.environ.get("ASSAY_GITHUB_API_URL") or "https://api.github.com"
    if not url.startswith(("https://", "http://")) or any(c.isspace() for c in url):
        raise UnusableInput("ASSAY_GITHUB_API_URL is no http(s) URL, such as https://api.github.com.")
    token = os.environ.get("GITHUB_TOKEN", "").strip() or None
    if token and (not token.isascii() or not token.isprintable() or " " in token):
        raise UnusableInput("GITHUB_TOKEN holds characters that no token has.")

    def ask(questions: Sequence[Question]) -> tuple[Mapping[Question, Answer], tuple[Unchecked, ...]]:
        from bot.github.commits import ask_github

        return ask_github(url, token, say=_say)(questions)

    return ask


def _say(text: str) -> None:
    """A word about a long wait, for somebody who watches."""
    if sys.stderr.isatty():
        click.echo(f"assay: {text}", err=True)


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


def _progress(total: int) -> AbstractContextManager[Callable[[str], None]]:
    """A bar on standard error, where that is a terminal; else nothing."""
    if not sys.stderr.isatty():
        return nullcontext(lambda _: None)
    from bot.progress import Bar

    return Bar(total + 1)


def _render(report: Report, snapshot: Snapshot, form: str, output: str | None) -> str:
    if form != "text":
        from bot.review import render

        return render.form(form)(report, snapshot)
    from bot.review.as_text import as_text

    colour, width = _terminal(output)
    return as_text(report, snapshot, colour, width)


def _terminal(output: str | None) -> tuple[bool, int]:
    """(whether to colour, columns). NO_COLOR (no-color.org) wins over FORCE_COLOR (force-color.org)."""
    import shutil

    terminal = output is None and sys.stdout.isatty()
    forced = os.environ.get("FORCE_COLOR", "") not in ("", "0")
    colour = not os.environ.get("NO_COLOR") and (forced or (terminal and os.environ.get("TERM") != "dumb"))
    return colour, min(shutil.get_terminal_size((100, 24)).columns, 120) if terminal else 100


def _exit_code(report: Report, fail_on: str) -> int:
    """The contract of `assay check`."""
    if report.verdict == "incomplete":
        return EXIT_INCOMPLETE
    if fail_on == "never":
        return 0
    counted = LEVELS[: LEVELS.index(fail_on) + 1]
    return EXIT_FOUND if any(one.finding.severity.value in counted for one in report.findings) else 0


@cli.command("rules")
@click.argument("id", required=False)
def list_rules(id: str | None) -> None:
    """List the rules, or show the documentation of the rule ID."""
    from importlib.metadata import entry_points

    from bot.catalogue import catalogue

    if entry_points(group="assay.rules"):
        _rules()  # what is wrong with a plugged rule is said here as in a review
    known = catalogue()
    if id is None:
        width = max((len(rule.id) for rule in known), default=0)
        _print("".join(f"{rule.id:<{width}}  {rule.severity:<8}  {rule.summary}{' (preview)' if rule.preview else ''}\n" for rule in known))
        return
    found = next((rule for rule in known if rule.id == id), None)
    if found is None:
        raise Unusable(f"there is no rule {id!r}{_near(id, {rule.id for rule in known})}; `assay rules` lists them.")
    _print(f"{found.id} ({found.family}, {found.severity}{', preview' if found.preview else ''})\n\n{found.doc.rstrip()}\n")


@cli.command()
@click.argument("repo", default=".")
@click.option("--detect", is_flag=True, help="Propose the layout that the repository's folders suggest.")
@click.option("--write", is_flag=True, help="Write .github/assay.yml instead of printing it.")
def init(repo: str, detect: bool, write: bool) -> None:
    """Print a commented config for the repository REPO."""
    from bot import setting_up
    from rules.core.config import CONFIG_PATH

    text = setting_up.example(_tree_at(repo) if detect else None)
    if not write:
        _print(text)
        return
    target = os.path.join(repo, CONFIG_PATH)
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise Unusable(f"{target} exists; it is left as it is.") from error
    except OSError as error:
        raise Unusable(f"{target} cannot be written ({(error.strerror or 'error').lower()}).") from error
    click.echo(f"wrote {target}")


def _tree_at(repo: str) -> Tree:
    from bot import gather, setting_up

    try:
        with gather.usable(repo):
            return setting_up.tree_at(repo)
    except gather.UnusableInput as error:
        raise Unusable(str(error)) from error


@cli.command()
@click.argument("repo", default=".")
def doctor(repo: str) -> None:
    """Check what a review of REPO can check on this machine."""
    from bot import gather, setting_up

    try:
        with gather.usable(repo):
            checks = list(setting_up.doctor(repo))
    except gather.UnusableInput as error:
        raise Unusable(str(error)) from error
    _print("".join(f"{check.state:<5} {check.text}\n" for check in checks))
    sys.exit(EXIT_UNUSABLE if any(check.state == "bad" for check in checks) else 0)


@cli.command()
@click.option("--web-only", is_flag=True, help="Only take deliveries; `assay worker` does the work.")
def serve(web_only: bool) -> None:
    """Run the web server and one worker. Settings come from the environment (ASSAY_…)."""

    def run(settings: Settings) -> Coroutine[Any, Any, int]:
        from bot import serve as service

        return service.run(settings, work=not web_only, started=_started)

    _run_service(run)


@cli.command()
@click.option("--beside", is_flag=True, hidden=True, help="The web server listens at the other end of standard input.")
def worker(beside: bool) -> None:
    """Run a worker beside `assay serve --web-only`; several may share one PostgreSQL database."""

    def run(settings: Settings) -> Coroutine[Any, Any, int]:
        from bot import worker as service

        return service.run(settings, _started, beside)

    _run_service(run)


def _run_service(run: Callable[[Settings], Coroutine[Any, Any, int]]) -> NoReturn:
    import asyncio

    from bot.service_log import set_up
    from bot.settings import SettingsError, read_settings

    try:
        settings = read_settings()
        set_up(settings.log_level)
        status = asyncio.run(run(settings))
    except SettingsError as error:
        raise Unusable(str(error)) from error
    except OSError as error:
        raise Unusable(f"the service cannot start ({(error.strerror or str(error)).lower()}).") from error
    # Threads of libraries must not keep a service that has ended in order.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _started(address: str) -> None:
    click.echo(f"assay: listening on {address}" if address else "assay: at work", err=True)


@cli.command()
@click.argument("delivery")
def replay(delivery: str) -> None:
    """Take the delivery in the JSON file DELIVERY once more, as `gh api /app/hook/deliveries/ID` prints it; a running worker carries it out."""
    from bot.replay import NotADelivery, replay_file
    from bot.settings import SettingsError, read_settings

    try:
        wanted = replay_file(read_settings(), delivery)
    except (SettingsError, NotADelivery) as error:
        raise Unusable(str(error)) from error
    _print("".join(f"{line}\n" for line in wanted))


def main() -> NoReturn:
    """Run the command line. Whatever the user did wrong is one line on standard error and exit 2."""
    # Ending in order removes the temporary directory and git's processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_TERMINATED))
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
    except Exception as error:  # noqa: BLE001
        # Ours, not the user's: neither "nothing found" nor "something found".
        click.echo(f"assay: it crashed ({type(error).__name__}); please report it. ASSAY_LOG_LEVEL=debug shows where.", err=True)
        if os.environ.get("ASSAY_LOG_LEVEL", "").lower() == "debug":
            import traceback

            traceback.print_exc()
        code = EXIT_INCOMPLETE
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()

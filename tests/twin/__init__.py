"""A stateful stand-in for GitHub: its REST API with limits and refusals, git over HTTP, and signed webhooks.

async with Twin.serve(tmp_path) as twin:
    repo = twin.add_repository("acme/evidence", git_dir)
    pull = repo.open_pull(head="topic", base="main", title="…", body="…", user="author")
    await twin.deliver("pull_request", action="opened", pull=pull, to=url)
"""

from tests.twin.deliveries import Delivery
from tests.twin.faults import Fault
from tests.twin.handles import IssueHandle, PullHandle, RepositoryHandle
from tests.twin.server import Event, Logged, Twin
from tests.twin.state import Refused

__all__ = ["Delivery", "Event", "Fault", "IssueHandle", "Logged", "PullHandle", "Refused", "RepositoryHandle", "Twin"]

from rules.reading.layout import bundles
from rules.reading.past import changes_in, commits_with
from tests.worlds import Step, bundle, story


def test_changes_of_a_bundle_oldest_first() -> None:
    held = story(Step(bundle({"a": "1", "b": "x"})), Step(bundle({"a": "2"}, "other")), Step(bundle({"a": "2"})))
    camp = bundles(held)[0]
    assert [(change.commit[-1], change.path[-1]) for change in changes_in(held, camp)] == [("1", "b"), ("1", "a"), ("3", "a")]
    assert [commit[-1] for commit in commits_with(held, held.head.files["evidence/camp/a"].oid)] == ["2", "3"]
    assert commits_with(held, "0" * 40) == ()

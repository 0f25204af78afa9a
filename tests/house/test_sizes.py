"""Files stay of a size that is read in one sitting, and are named by what they hold."""

from _tree import python_files, relative

FOLDERS = ("src", "tests", "benchmarks", "examples")
MOST = 600

#: Files that may be longer, each with the reason why cutting it would make it worse.
LONGER: dict[str, str] = {}

#: Names that say nothing about what is inside.
NAMELESS = {"utils.py", "helpers.py", "common.py", "misc.py"}
#: What has such a name because PyTorch has it: programs import it.
NAMED_BY_PYTORCH = {
    "src/rushlight/autograd/_functions/utils.py",
    "src/rushlight/distributed/algorithms/model_averaging/utils.py",
    "src/rushlight/distributed/utils.py",
    "src/rushlight/distributions/utils.py",
    "src/rushlight/_torch/_dynamo/utils.py",
    "src/rushlight/_torch/_functorch/utils.py",
    "src/rushlight/nn/modules/utils.py",
    "src/rushlight/utils/data/datapipes/iter/utils.py",
    "src/rushlight/utils/data/datapipes/map/utils.py",
    "src/rushlight/utils/data/datapipes/utils/common.py",
}


def counts() -> dict[str, int]:
    return {
        relative(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files(*FOLDERS)
    }


def test_no_file_is_longer_than_six_hundred_lines() -> None:
    long = {path: n for path, n in counts().items() if n > MOST and path not in LONGER}
    assert not long, f"longer than {MOST} lines: {long}"


def test_every_exception_is_still_one() -> None:
    sizes = counts()
    gone = [path for path in LONGER if sizes.get(path, 0) <= MOST]
    assert not gone, f"no longer longer than {MOST} lines: take them off the list: {gone}"


def test_every_file_is_named_by_what_it_holds() -> None:
    nameless = {relative(p) for p in python_files(*FOLDERS) if p.name in NAMELESS}
    nameless -= NAMED_BY_PYTORCH
    assert not nameless

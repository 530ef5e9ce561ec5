import threading
import time
from itertools import count

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from oddhop.base.parallel import available_workers, map_blocks, silent, single_threaded, threads

every_pool = pytest.mark.parametrize("workers", [1, 2, 4])


class BlockError(Exception):
    pass


def thread_counts():
    import torch

    return torch.get_num_threads(), [pool["num_threads"] for pool in threadpool_info()]


@pytest.fixture
def two_threads():
    """Hold every library to two threads, a setting that one thread would differ from."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    with threadpool_limits(limits=2):
        yield thread_counts()
    torch.set_num_threads(before)


@every_pool
def test_results_come_in_the_order_of_the_blocks(workers):
    def slow_at_first(block):
        time.sleep(0.01 if block % 3 == 0 else 0)
        return block * block

    assert list(map_blocks(slow_at_first, range(20), workers=workers)) == [block * block for block in range(20)]


@every_pool
def test_one_block_runs_where_it_was_asked_for(workers):
    def here(_):
        return threading.get_ident()

    assert list(map_blocks(here, range(1), workers=workers)) == [threading.get_ident()]


@every_pool
def test_no_blocks_give_no_results(workers):
    assert list(map_blocks(str, [], workers=workers)) == []


@every_pool
def test_a_mapper_of_threads_keeps_the_order_and_counts_what_is_done(workers):
    done = []
    assert threads(workers)(lambda block: -block, range(9), done.append) == [-block for block in range(9)]
    assert done == list(range(1, 10))


@every_pool
def test_a_mapper_of_threads_passes_an_error_on(workers):
    with pytest.raises(ZeroDivisionError):
        threads(workers)(lambda block: 1 // block, [1, 0], lambda done: None)


@every_pool
def test_blocks_are_read_only_as_they_are_needed(workers):
    taken = []
    results = map_blocks(str, (taken.append(block) or block for block in count()), workers=workers)
    assert [next(results) for _ in range(5)] == ["0", "1", "2", "3", "4"]
    assert len(taken) <= 5 + 2 * workers + 1
    results.close()


@every_pool
def test_an_error_in_a_block_reaches_the_caller_and_stops_the_work(workers):
    begun = []

    def fail_at_three(block):
        begun.append(block)
        if block == 3:
            raise BlockError("block 3")
        return block

    results = map_blocks(fail_at_three, range(1_000), workers=workers)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(BlockError, match="block 3"):
        next(results)
    assert len(begun) < 100


@every_pool
def test_an_error_while_reading_blocks_reaches_the_caller(workers):
    def blocks():
        yield 0
        raise BlockError("no more")

    with pytest.raises(BlockError, match="no more"):
        list(map_blocks(str, blocks(), workers=workers))


@every_pool
def test_torch_and_linear_algebra_have_one_thread_in_a_block(workers, two_threads):
    import torch

    def threads(_):
        return [
            torch.get_num_threads(),
            *(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"),
        ]

    assert {count for counts in map_blocks(threads, range(4), workers=workers) for count in counts} == {1}


@every_pool
def test_thread_settings_are_put_back(workers, two_threads):
    list(map_blocks(str, range(4), workers=workers))
    assert thread_counts() == two_threads


@every_pool
def test_thread_settings_are_put_back_after_an_error(workers, two_threads):
    with pytest.raises(ZeroDivisionError):
        list(map_blocks(lambda block: 1 // block, [1, 0], workers=workers))
    assert thread_counts() == two_threads


@every_pool
def test_thread_settings_are_put_back_when_the_caller_stops_early(workers, two_threads):
    results = map_blocks(str, range(100), workers=workers)
    next(results)
    results.close()
    assert thread_counts() == two_threads


def test_single_threaded_can_be_nested(two_threads):
    import torch

    with single_threaded(), single_threaded():
        assert torch.get_num_threads() == 1
    assert thread_counts() == two_threads


def test_there_is_always_a_worker_and_silence_says_nothing(capsys):
    silent("stage", 1, 2)
    assert capsys.readouterr().out == ""
    assert available_workers() >= 1

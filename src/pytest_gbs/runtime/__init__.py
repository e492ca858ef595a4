"""The running job: a recipe's batch compared with the rows that really train, before the first optimizer step.

Nothing heavy is imported here; `pytest_gbs.runtime.transformers` and `.lightning` import those libraries, `.loop` serves every other loop.
"""

from pytest_gbs.runtime.expected import Expected, expect_global_batch_size, expect_recipe
from pytest_gbs.runtime.guard import BatchGuard, GlobalBatchError, GlobalBatchWarning
from pytest_gbs.runtime.loop import watch

__all__ = ["BatchGuard", "Expected", "GlobalBatchError", "GlobalBatchWarning", "expect_global_batch_size", "expect_recipe", "watch"]

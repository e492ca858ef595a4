"""The batch of every recipe and launch as one page of HTML, which needs no network and can be read without JavaScript."""

from pytest_gbs.report.page import page
from pytest_gbs.report.timeline import Timeline

__all__ = ["Timeline", "page"]

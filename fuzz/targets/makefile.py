"""Makefiles: reading ends."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.target import Target, source
from pytest_gbs.model.location import Unreadable
from pytest_gbs.shell import read_commands

_MAKE = b"""\
N ?= 8
export M := $(shell nproc)
define RUN
torchrun --nproc_per_node $(N) \\
  train.py --config $(1).yaml
endef
ifeq ($(N),8)
G = $(words a b c)$(patsubst %.c,%.o,x.c)
else
G += 2
endif
all: sft.yaml | dir
\t@$(call RUN,sft)
%.log: N = 4
%.log: %.yaml ; accelerate launch --num_processes $${N} $< > $@
include other.mk
"""


def _run(data: bytes) -> None:
    text = source("Makefile", data)
    if not isinstance(text, Unreadable):
        read_commands(text)


def _seeds() -> Iterator[bytes]:
    yield _MAKE
    yield from (line + b"\n" for line in _MAKE.split(b"\n"))


TARGET = Target(
    _run, _seeds, ("$(", "$@", "$$", "${", "define ", "endef\n", "ifeq (", "endif\n", ":=", "?=", "\\\n", "\n\t", "$(shell ", "export ")
)

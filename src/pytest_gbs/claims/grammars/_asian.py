"""Chinese, Japanese and Korean words for a batch, cut out of runs without spaces and read as the English ones: `总batch size`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from pytest_gbs.claims.grammars.words import words

_TERMS: Final = {
    "effective": "有效 等效 实际 等价于 相当于 実効 有効 유효 효과적 실질",
    "global": "全局 グローバル 글로벌",
    "total": "总的 总 總 総 全体の 총 전체",
    "batch size": "批次大小 批量大小 批处理大小 批大小 批量 バッチサイズ 배치크기 배치사이즈",
    "batch": "バッチ 배치",
    "global batch": "全局批次",  # 有效批次 and 总批次 may be a number of them
    "effective batch": "等效批次",
    "size": "大小 サイズ 크기 사이즈",
    "gradient accumulation": "梯度累积 梯度累计 勾配累積",
    "gpus": "张卡 卡",
    "per gpu": "每张卡 每卡 单卡",
    "per": "每个",
    "is": "为 是 は 은 는",
    "set": "设置为 设为 设定为 固定为",
    "kept": "保持",
    "about": "约为 约",
    "": "的",
    "micro": "微",
    "eval": "评估 验证 测试 推理 評価 検証 평가 검증",
    "so": "因此 所以",
}
# What is only advised, planned, compared with, or another's; what follows is not a statement of this recipe.
_HEDGED: Final = words(
    "建议 推荐 推薦 论文 論文 原版 原始 例如 比如 改为 以前 之前 推奨 논문 권장 如果 假设 假如"
    " 默认总 默认全局 默认有效 当总 当全局 当有效 当batch 場合 もし 만약"
)
_NAMING: Final = ("effective", "global", "total")
_NAMES: Final = (*_NAMING, *(term for name in _NAMING for term in _TERMS[name].split()))
_BATCHES: Final = words("batch bs 批 バッチ 배치")
# What may be between the name of a batch and its number.
_GIVING: Final = ("is", "set", "kept", "about")
# What may be behind a number that is written right behind its name.
_SUFFIXES: Final = ("", "を", "に", "で", "로", "을", "를", "이", "의")


def names_batch(text: str) -> bool:
    """Whether `text`, in lower case, may name the global batch with words of these languages, and certainly of this recipe."""
    named = any(name in text for name in _NAMES) and any(name in text for name in _BATCHES)
    return named and not any(word in text for word in _HEDGED)


def segments(text: str) -> Iterator[tuple[str, bool, int, int]]:
    """Yield the words and numbers of a run without spaces, as they are called in English, each with its place and whether it is a number.

    A number counts only behind the name of the batch: `バッチサイズ16を`, `8卡`; not `累积4次`.
    """
    named = False
    found = list(_piece().finditer(text))
    for i, match in enumerate(found):
        behind = found[i + 1][0] if i + 1 < len(found) else ""
        english = _english().get(match[0])
        if english is not None:
            yield from ((word, False, *match.span()) for word in english.split())
        else:
            counts = match.lastgroup == "number" and ((named and behind in _SUFFIXES) or _english().get(behind) == "gpus")
            yield match[0].lower(), counts, *match.span()
        word = match[0].lower() if english is None else english
        named = word.endswith(("batch", "size", "effective")) or (named and word in _GIVING)


@cache
def _english() -> dict[str, str]:
    return {term: english for english, terms in _TERMS.items() for term in terms.split()}


@cache
def _piece() -> re.Pattern[str]:
    terms = "|".join(sorted(_english(), key=len, reverse=True))
    particles = "".join(filter(None, _SUFFIXES))
    other = rf"(?:(?!{terms})[^\W0-9A-Za-z{particles}])+"
    return re.compile(rf"(?P<term>{terms})|(?P<number>[0-9]{{1,9}})|[A-Za-z][A-Za-z0-9]*|[{particles}]|{other}|.")

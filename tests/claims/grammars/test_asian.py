"""Batches that are stated in Chinese, Japanese and Korean."""

import pytest

from tests.claims.grammars.support import BATCHES, batches, behind, declared

ACCUMULATION = "gradient_accumulation_steps"


@pytest.mark.parametrize(
    "text",
    [
        "有效批次: 100",  # so many batches are valid
        "有效batch数: 100",
        "全局批次数 100",
        "总批次为 100",
        "单卡batch 4，等效 2 轮",
        "batch 总数 100",
        "总步数 1000, 每步一个 batch",
        "总卡数 8, batch size 4",
        "每卡 batch size 4, 总共 2 台机器",
        "总体微批大小 4",
        "评估 总batch size 64",
        "建议有效 batch size 64",
        "论文中的全局 batch size 是 512",
        "例如 总batch size = 64",
        "等效batch翻倍, 需调整 lr 2",
        "有效batch扩大4倍",
        "累积4次batch",
        "グローバルバッチサイズを増やす (2倍)",
        "유효 배치 타일 5",
        "유효 배치 크기를 2배로",
        "总样本数 64",
        "显存80G，总batch size 不超过 128",
        "推理时总batch size 为 32",
        "如果总batch size为128, lr 为 1e-5",
        "当总batch size为 64 时",
        "默认总batch size为 128",
        "将全局 batch size改为64",
        "总batch size 是否为 64",
        "总batch size 从 128 降到 64",
        "每个GPU的batch size为4",
        "全局步数为 128, batch 打乱",
        "グローバルバッチサイズは16の倍数",  # a multiple of it
        "batch size는 전체 GPU 8",
        "micro_train_batch_size = 4, 总批次大小",
    ],
)
def test_states_no_batch(text: str) -> None:
    assert [each for each in declared(text) if each.name in BATCHES] == []
    assert [each for each in behind(ACCUMULATION, text) if each.name in BATCHES] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("总batch size = 128", 128),
        ("总 batch size: 128", 128),
        ("总批次大小：64", 64),
        ("全局 batch size 512", 512),
        ("全局批大小 = 4 * 8 * 2 = 64", 64),
        ("等效batch_size=32", 32),
        ("全局批次 256", 256),
        ("全局批次大小为256", 256),
        ("单卡batch 4，8卡，梯度累积2，等效64", 64),
        ("8GPU、バッチサイズ4、勾配累積4で実効128", 128),
        ("累积4次batch=4，等效batch=16", 16),
        ("有效 batch = 2×8 = 16", 16),
        ("有效Batch Size: 1 × 16 (grad_accum) × 2 (GPUs) = 32", 32),
        ("有效batch size = 64（8卡）", 64),
        ("実効バッチサイズ: 1 × 8 = 8", 8),
        ("バッチサイズ1、勾配累積16で実効バッチサイズ16を維持", 16),
        ("グローバルバッチサイズ 1024", 1024),
        ("글로벌 배치 크기 128", 128),
        ("유효 배치 256", 256),
        ("효과적 배치 = 16", 16),
        ("目标等效batch_size=64", 64),
        ("全局批量大小为128", 128),
        ("总的批大小64", 64),
        ("micro batch size为4，global batch size为1024。", 1024),
        ("等价于batch size 128", 128),
        ("实际batch size为 32", 32),
        ("`per_device_train_batch_size=1`、累加 16 次, 等效为 16 的总批处理大小", 16),  # 1 is a micro batch
        ("等效批处理大小为16", 16),
        ("总 batch size 约为 1024", 1024),
        ("global batch size 设置为 256", 256),
        ("全局 batch size 保持 128 不变", 128),
        ("グローバルバッチサイズは128", 128),
        ("有効バッチサイズ: 32 (4 x 8)", 32),
        ("全体のバッチサイズは 256", 256),
        ("전체 배치 크기 128", 128),
        ("유효 배치 크기는 64", 64),
        ("실질 배치 = 4 x 8 = 32", 32),
    ],
)
def test_states_a_batch(text: str, value: int) -> None:
    assert batches(text, (ACCUMULATION,)) == [("global_batch_size", value)]


def test_a_number_has_its_place() -> None:
    (found,) = [each for each in declared("実効バッチサイズ16を維持") if each.name in BATCHES]
    assert (found.at.start, found.at.stop) == (4 + len("実効バッチサイズ"), 4 + len("実効バッチサイズ16"))


def test_cards_are_hardware() -> None:
    (found,) = [each for each in declared("有效batch size = 64（8卡）") if each.name in BATCHES]
    assert found.conditions == (("world_size", 8),)

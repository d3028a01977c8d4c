"""Who is told in Chinese, and with which texts."""

from __future__ import annotations

import subprocess
import sys

import pytest

from healthcheck.edge.languages import NAMES, language_of, load_language
from healthcheck.errors import InputError
from healthcheck.model.language import ENGLISH, speaking
from healthcheck.model.message import say


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.utf8"}, "zh"),
        ({"LANG": "zh_CN.GB18030"}, "zh"),
        ({"LANG": "zh_CN"}, "zh"),
        ({"LANG": "zh_SG.UTF-8@stroke"}, "zh"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
        ({"LANG": "zh_CN.ISO8859-1"}, "en"),
        ({"LANG": "zh_CN.no-such-code"}, "en"),
        ({"LANG": "zh_TW.UTF-8"}, "en"),
        ({"LANG": "POSIX"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "../zh_CN"}, "en"),
        ({}, "en"),
    ],
)
def test_the_environment_of_the_shell_says_which_language(environment: dict[str, str], name: str) -> None:
    assert language_of(environment, "utf-8") == name


@pytest.mark.parametrize(("encoding", "name"), [("utf-8", "zh"), ("gbk", "zh"), (None, "zh"), ("ascii", "en")])
def test_a_screen_that_cannot_show_chinese_gets_english(encoding: str | None, name: str) -> None:
    assert language_of({"LANG": "zh_CN.UTF-8"}, encoding) == name


def test_chinese_is_told_in_chinese_and_english_is_the_code_itself() -> None:
    message = say("probe.gpu.fewer", found=7, expected=8)
    chinese = load_language("zh")
    assert chinese.code == "zh-Hans"
    with speaking(chinese):
        told = str(message)
        assert message.english == "7 of 8 GPUs"
    assert "GPU" in told and "7" in told and told != message.english
    assert load_language("en") is ENGLISH


def test_another_language_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match=f"--lang: .*{', '.join(NAMES)}"):
        load_language("fr")


def test_nobody_who_is_told_in_english_pays_for_a_catalogue() -> None:
    code = (
        "import sys; from healthcheck.edge.languages import load_language as l; l('en'); print('babel' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

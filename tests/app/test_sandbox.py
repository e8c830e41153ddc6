"""The sandbox of the stories: their code is compiled once, and every run still has modules of its own."""

import sys
from importlib.util import module_from_spec

from hikitsugi.app.sandbox import sandbox_that_knows_us
from workflows import __path__ as where


def test_a_story_is_compiled_once_and_loaded_anew_for_every_run():
    sandbox_that_knows_us(None)
    found = [sys.meta_path[0].find_spec("workflows.gate", where) for _ in range(2)]
    first, second = (spec for spec in found if spec and spec.loader)
    assert first is not second
    modules = [module_from_spec(spec) for spec in (first, second)]
    for spec, module in zip((first, second), modules, strict=True):
        assert spec.loader
        spec.loader.exec_module(module)
    gates = [module.Gate for module in modules]
    assert gates[0] is not gates[1]
    assert gates[0].passage.__code__ is gates[1].passage.__code__


def test_it_is_set_up_once_and_leaves_other_modules_alone():
    sandbox_that_knows_us(None)
    before = len(sys.meta_path)
    sandbox_that_knows_us(None)
    assert len(sys.meta_path) == before
    assert sys.meta_path[0].find_spec("json", None) is None
    assert sys.meta_path[0].find_spec("workflows.nothing", where) is None

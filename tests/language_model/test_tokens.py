"""The guess of a text's length is never far too low."""

import pytest

from hikitsugi.language_model.tokens import estimate


@pytest.mark.lesson("C21")
def test_japanese_is_not_counted_four_characters_to_a_token():
    assert estimate("引" * 170) == 170
    assert estimate("word " * 30) == 50
    assert estimate("") == 0

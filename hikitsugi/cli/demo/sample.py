"""The sample repository, its failing test and the issue that describes it."""

REPOSITORY = "demo/receipt"
ISSUE_NUMBER = 1
AUTHOR = "hanako"
MAINTAINER = "kenji"
PEOPLE = {AUTHOR: "read", MAINTAINER: "write"}
BOT = "hikitsugi-bot"
TITLE = "レシートの税込み合計が数円ずれる"
BODY = """\
`receipt.total` の税込み合計が、レジの表示と合いません。

99 円の商品を 3 点買うと 326 円になるはずですが、324 円になります。
消費税の端数処理は商品ごとではなく、レシート 1 枚につき 1 回だけ切り捨てるのが正しいはずです。

`python -m unittest` を実行すると、`test_tax_is_rounded_once_per_receipt` が失敗します。
"""
DELIVERABLES = """
## 成果物

- `receipt.py`: 端数処理を直したもの
"""

RECEIPT = '''\
"""A shop's receipt, in yen."""

TAX_PERCENT = 10


def total(prices: list[int]) -> int:
    """What a customer pays for these net prices, tax included."""
    return sum(price + price * TAX_PERCENT // 100 for price in prices)
'''
RECEIPT_TEST = '''\
"""Tests of the receipt."""

import unittest

from receipt import total


class ReceiptTest(unittest.TestCase):
    def test_one_item(self):
        self.assertEqual(total([100]), 110)

    def test_tax_is_rounded_once_per_receipt(self):
        self.assertEqual(total([99, 99, 99]), 326)


if __name__ == "__main__":
    unittest.main()
'''
README = """\
# receipt

Adds up a shop's receipt.
"""
FILES = {"receipt.py": RECEIPT, "test_receipt.py": RECEIPT_TEST, "README.md": README, ".gitignore": "__pycache__/\n"}

BROKEN = "    return sum(price + price * TAX_PERCENT // 100 for price in prices)\n"
MENDED = """\
    net = sum(prices)
    return net + net * TAX_PERCENT // 100
"""
TEST_BEFORE = """\
        self.assertEqual(total([99, 99, 99]), 326)
"""
TEST_AFTER = """\
        self.assertEqual(total([99, 99, 99]), 326)

    def test_nothing_is_lost_where_nothing_is_rounded(self):
        self.assertEqual(total([100, 200, 300]), 660)
"""
USAGE = """\
# receipt

Adds up a shop's receipt.

## Usage

```python
from receipt import total

total([99, 99, 99])  # 326: tax is rounded down once per receipt
```
"""

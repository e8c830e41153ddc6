"""Column types that give back exactly what was stored, on SQLite and PostgreSQL alike."""

import json
import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import DateTime, Dialect, Text, TypeDecorator

_SURROGATE = re.compile("[\ud800-\udfff]")


class ExactJson(TypeDecorator[Any]):
    """JSON kept as text: key order and every character survive, which signed thinking blocks need."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """Write compact JSON; what no database takes as text (NUL, lone surrogates) is escaped."""
        if value is None:
            return None
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Read it back."""
        return None if value is None else json.loads(value)


class ExactDecimal(TypeDecorator[Decimal]):
    """A decimal kept as text, because SQLite would make it a binary fraction."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> str | None:
        """Write all digits."""
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Decimal | None:
        """Read all digits."""
        return None if value is None else Decimal(value)


class UtcDateTime(TypeDecorator[datetime]):
    """A point in time, always with its zone: UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse a time without a zone, which every reader would take for another moment."""
        if value is not None and value.tzinfo is None:
            message = f"{value.isoformat()} has no time zone"
            raise ValueError(message)
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the zone back, which SQLite does not keep."""
        return None if value is None else value.replace(tzinfo=value.tzinfo or UTC).astimezone(UTC)

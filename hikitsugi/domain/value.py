"""What every domain value is: frozen, typed, and tolerant of fields added by a later version."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """An immutable fact that may travel through Temporal or into the store."""

    model_config = ConfigDict(frozen=True, extra="ignore")

"""What every domain value is: frozen, typed, and tolerant of fields added by a later version."""

from typing import Any

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer


class Value(BaseModel):
    """An immutable fact that may travel through Temporal or into the store."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Sparse(BaseModel):
    """Something that histories hold often: only what differs from its defaults is written, so none may ever change."""

    @model_serializer(mode="wrap")
    def _differences(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        defaults = {
            name: field.get_default(call_default_factory=True, validated_data={})
            for name, field in type(self).model_fields.items()
        }
        return {name: value for name, value in write(self).items() if getattr(self, name) != defaults[name]}

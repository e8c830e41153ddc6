"""Names that a story gives."""

from temporalio import workflow


def new_id() -> str:
    """The name of a conversation; short, because every step of a turn carries it."""
    return workflow.uuid4().hex[:16]

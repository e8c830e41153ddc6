"""The quota in GitHub's words."""

from hikitsugi.devforge.rate import Quota


def quota_shape(quota: Quota) -> dict[str, int]:
    """The quota in an answer."""
    return {"limit": quota.limit, "remaining": quota.remaining, "reset": quota.reset, "used": quota.used}


def quota_headers(quota: Quota) -> dict[str, str]:
    """The quota as headers of an answer."""
    told = {f"x-ratelimit-{key}": str(value) for key, value in quota_shape(quota).items()}
    return told | {"x-ratelimit-resource": "core"}

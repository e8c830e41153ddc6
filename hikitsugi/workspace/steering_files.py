"""Files that steer machines: instructions for agents, and workflows that a forge would run."""

from fnmatch import fnmatchcase

INSTRUCTIONS = (
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".github/copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
)
"""Read from the base branch, in this order."""

_ANYWHERE = (
    *("agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md", "copilot-instructions.md"),
    *(".cursorrules", ".windsurfrules", ".clinerules", ".mcp.json", ".gitmodules", ".aider.conf.yml"),
    *(".gitlab-ci.yml", "*.gitlab-ci.yml", ".travis.yml", ".drone.yml", "jenkinsfile", ".pre-commit-config.yaml"),
    *("azure-pipelines.yml", "bitbucket-pipelines.yml", "appveyor.yml", ".woodpecker.yml", ".woodpecker.yaml"),
)
_FOLDERS = (
    *(".github/workflows/", ".github/actions/", ".github/instructions/", ".forgejo/workflows/", ".gitea/workflows/"),
    *(".gitlab/ci/", ".circleci/", ".buildkite/", ".woodpecker/", ".husky/", ".githooks/"),
    *(".cursor/", ".claude/", ".clinerules/", ".gemini/", ".codex/"),
)


def steers_machines(path: str) -> bool:
    """Whether a change of this file changes what agents or the forge's machines do."""
    small = path.lower()
    name = small.rpartition("/")[2]
    return any(fnmatchcase(name, pattern) for pattern in _ANYWHERE) or any(
        f"/{folder}" in f"/{small}" for folder in _FOLDERS
    )

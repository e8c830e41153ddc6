"""Makes a new checkout ready for commands with the settings' `setup_command`."""

import hashlib

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.refusal import Refused
from hikitsugi.workspace.shell import Shell

_SHOWN = 500


async def set_up(shell: Shell, place: Place, command: str) -> None:
    """Run the command in a checkout that has not seen it succeed yet."""
    mark = place.git_dir / "set-up"
    wanted = hashlib.sha256(command.encode()).hexdigest()
    if mark.exists() and mark.read_text(encoding="ascii") == wanted:
        return
    try:
        said = await shell.run(place, command, "setup_command")
    except Refused as refusal:
        raise WillNeverWork(f"workspace.setup_command cannot be run: {refusal}") from None
    if said.ended.code or said.ended.cut:
        how = said.ended.cut or f"it ended with exit code {said.ended.code}"
        raise WillNeverWork(f"workspace.setup_command failed, {how}: {said.text.strip()[-_SHOWN:]}")
    mark.write_text(wanted, encoding="ascii")

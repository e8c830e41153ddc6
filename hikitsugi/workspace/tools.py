"""The tools the model works with in a checkout."""

import asyncio
from collections.abc import Mapping
from contextlib import nullcontext

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.ports import Toolbox
from hikitsugi.domain.tools import Intent, ToolCall, ToolOutcome
from hikitsugi.workspace import editing, reading, searching
from hikitsugi.workspace.checkout import Checkouts
from hikitsugi.workspace.confinement import Limits, Sandbox
from hikitsugi.workspace.copying import copied
from hikitsugi.workspace.git_failures import saying_full_disk
from hikitsugi.workspace.inputs import READ_ONLY, TOOL_SPECS, Edit, Glob, Grep, Input, Read, Run, Write, parsed
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.refusal import Refused
from hikitsugi.workspace.running import Ended
from hikitsugi.workspace.shell import Shell

__all__ = ["READ_ONLY", "TOOL_SPECS", "WorkspaceTools"]


class WorkspaceTools(Toolbox):
    """Read, edit, write, glob, grep, run and submit; whatever the model got wrong is answered, never raised."""

    def __init__(self, checkouts: Checkouts, sandbox: Sandbox, limits: Limits) -> None:
        self._checkouts = checkouts
        self._shell = Shell(sandbox, limits)

    async def intend(self, issue: IssueAddress, call: ToolCall, seen: Mapping[str, str]) -> Intent | ToolOutcome:
        """Check a call against the checkout: what it would do, or at once the error to answer with."""
        place = self._checkouts.place(issue)
        try:
            request = parsed(call.name, call.input)
            if isinstance(request, Edit | Write):
                return await asyncio.to_thread(editing.intend, place, call, request, seen)
        except Refused as refusal:
            return _no(refusal)
        return Intent(call=call, repeatable=not isinstance(request, Run))

    async def carry_out(self, issue: IssueAddress, intent: Intent) -> ToolOutcome:
        """Do what was intended; a file change that is already there is not made again."""
        place = self._checkouts.place(issue)
        try:
            request = parsed(intent.call.name, intent.call.input)
            with saying_full_disk(place.tree):
                return await self._done(issue, place, intent, request)
        except Refused as refusal:
            return _no(refusal)

    async def _done(self, issue: IssueAddress, place: Place, intent: Intent, request: Input) -> ToolOutcome:
        match request:
            case Read():
                return await asyncio.to_thread(reading.show, place, request)
            case Edit() | Write():
                return await editing.carry_out(place, intent, request)
            case Glob():
                return await searching.glob(place, request)
            case Grep():
                return await searching.grep(place, request)
            case Run():
                async with copied(place) if intent.throwaway else nullcontext(place) as where:
                    return await self._run(where, intent.call.id, request)
            case _:
                return await self._submit(issue)

    async def _run(self, place: Place, call: str, request: Run) -> ToolOutcome:
        said = await self._shell.run(place, request.command, call, request.timeout_seconds)
        return ToolOutcome(text=_report(said.ended, said.text), is_error=said.ended.cut is not None)

    async def _submit(self, issue: IssueAddress) -> ToolOutcome:
        if hindrances := await self._checkouts.hindrances(issue):
            raise Refused(f"the work cannot be published like this: {'; '.join(hindrances)}")
        return ToolOutcome(text="Submitted.")


def _no(refusal: Refused) -> ToolOutcome:
    return ToolOutcome(text=str(refusal), is_error=True)


def _report(ended: Ended, text: str) -> str:
    how = f"Exit code {ended.code} after {ended.seconds:.1f} s."
    if ended.cut:
        how = f"Ended because {ended.cut}; exit code {ended.code}."
    return f"{how}\n{text}" if text.strip() else f"{how} It printed nothing."

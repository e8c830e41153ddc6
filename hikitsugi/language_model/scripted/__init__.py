"""A model server that answers by a script; what a script needs is importable from here."""

from hikitsugi.language_model.scripted.answers import Answer, Fail, Reaction, fail, first, say, think, use
from hikitsugi.language_model.scripted.model import Received, Script, ScriptedModel
from hikitsugi.language_model.scripted.request import Request, Result
from hikitsugi.language_model.scripted.scripts import load
from hikitsugi.language_model.scripted.server import serve

__all__ = [
    "Answer",
    "Fail",
    "Reaction",
    "Received",
    "Request",
    "Result",
    "Script",
    "ScriptedModel",
    "fail",
    "first",
    "load",
    "say",
    "serve",
    "think",
    "use",
]

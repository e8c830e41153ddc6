"""How the parts of the tools say no to the model."""


class Refused(Exception):
    """A tool call that cannot be done; the text tells the model what to do instead."""

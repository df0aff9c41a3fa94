"""``tl.tuple``: the class of tuples in kernels, for annotations, ``isinstance``, and for building some in Python."""

import builtins


class tuple(builtins.tuple):
    """A tuple of values, perhaps with names: ``tl.tuple((a, b))``."""

    def __new__(cls, values=(), fields=None):
        made = super().__new__(cls, values)
        if fields is not None:
            made._fields = builtins.tuple(fields)
        return made

    @property
    def values(self):
        """The values, as a list."""
        return list(self)

    def __getattr__(self, name):
        fields = self.__dict__.get("_fields", ())
        if name in fields:
            return self[fields.index(name)]
        raise AttributeError(f"tuple has no attribute {name!r}")

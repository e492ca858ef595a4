"""The exceptions that are meant for users: a broken setting or a wrong call, never a broken recipe."""


class GbsError(Exception):
    """Something the user must fix before anything can be checked; its text is one clear line per problem."""


class SettingsError(GbsError):
    """The settings of the tool are broken; the text names file, key and what is allowed, one problem per line."""


class UsageError(GbsError):
    """The call makes no sense; the text says what to do instead."""

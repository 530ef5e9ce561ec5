"""Times, as people say them."""


def spoken_time(seconds: float) -> str:
    """Return a time as people say it.

    Examples
    --------
    >>> from oddhop.base.durations import spoken_time
    >>> spoken_time(4.2), spoken_time(75), spoken_time(7500)
    ('4 s', '1 min 15 s', '2 h 5 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"

"""Laws are about what holds, not about how fast: a busy machine breaks none."""

from hypothesis import settings

settings.register_profile("laws", deadline=None)
settings.load_profile("laws")

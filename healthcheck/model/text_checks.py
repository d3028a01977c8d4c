"""What each check asks, and why: one sentence a check id."""

CHECK_TEXTS: dict[str, str] = {}

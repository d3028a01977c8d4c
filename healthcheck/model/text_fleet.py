"""Texts about what should be the same on all nodes, and how several texts are put in a row."""

FLEET_TEXTS: dict[str, str] = {
    "text.comma": "{first}, {other}",
    "text.semicolon": "{first}; {other}",
    "text.and_more": "{first} and {more} more",
    "text.or": "{first}; or {other}",
    "text.full_stop": "{first}. {other}",
    "text.sentence": "{text}.",
    "text.next": "{first} {other}",
    "text.pair": "{name}: {what}",
    "text.bracket": "{what} ({more})",
    "remark.no_effect": "{what}; nothing measured here is slow, so it is only a remark",
    "fleet.same": "{count} {count:version or setting is|versions and settings are} the same on {nodes} "
    "{nodes:node|nodes}",
    "fleet.differs": "{what} is {value} here and {common} on {count} of {told} {told:node|nodes}",
    "fleet.no_majority": "{what} differs, and no value has most of the nodes: {values}",
    "fleet.pinned": "{count} {count:pin|pins} of {source} met",
    "fleet.unpinned": "{what} is {value}, {source} wants {wanted}",
    "fleet.pin_not_told": "{what} was not told by the node, {source} wants {wanted}",
}

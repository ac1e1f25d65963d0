"""The labelers of this package, by name: `module:attribute` of the entry of each."""

LABELERS = {
    "web2text": "dripper_labelers.web2text.entry:WEB2TEXT",
    "encoder": "dripper_labelers.encoder.entry:ENCODER",
    "reader": "dripper_labelers.reader.entry:READER",
    "neuscraper": "dripper_labelers.neuscraper.entry:NEUSCRAPER",
}
COMPOSITES = {
    "vote": "dripper_labelers.vote:make_vote_entry",
    "union": "dripper_labelers.vote:make_vote_entry",
}
"""Kind of labelers named `kind:members` → function that makes an entry from such a name."""

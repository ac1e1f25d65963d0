"""The labelers in this package: labeler name → `module:attribute` of the entry."""

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
"""The first part of a labeler name `kind:members` → the function that creates the entry."""

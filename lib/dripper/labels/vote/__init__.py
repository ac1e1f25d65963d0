"""Votes of several labelers, block by block: `vote:cpu,web2text,trafilatura`."""

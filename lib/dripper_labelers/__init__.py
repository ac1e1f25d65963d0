"""Labelers of other papers (encoder, web2text, neuscraper), and votes of several labelers."""
